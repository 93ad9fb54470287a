import { MACHINE_PARTS, type MachinePart, type PartName } from './machine-parts.ts';

/** Tests that need the same parts of the machine. */
interface TestGroup {
  needs: readonly PartName[];
  /** About how many they are; the bare pass of CI fails when all of them together are far from it. */
  tests: number;
  /** About how long they take on two processors that do nothing else. */
  minutes: number;
}

const GROUPS: readonly TestGroup[] = [
  { needs: [], tests: 4_650, minutes: 13 },
  { needs: ['python'], tests: 330, minutes: 4 },
  { needs: ['bubblewrap'], tests: 445, minutes: 6 },
  { needs: ['bubblewrap', 'python'], tests: 255, minutes: 4 },
  { needs: ['engine'], tests: 285, minutes: 8 },
  { needs: ['engine', 'python'], tests: 225, minutes: 5 },
  { needs: ['engine', 'root', 'gvisor'], tests: 15, minutes: 1 },
  { needs: ['engine', 'root', 'crun'], tests: 5, minutes: 1 },
  { needs: ['root'], tests: 20, minutes: 1 },
  { needs: ['ceph'], tests: 66, minutes: 2 },
  { needs: ['strace'], tests: 2, minutes: 0 },
];

/** What a run of all tests will be like on a machine. */
export interface TestOutlook {
  missing: MachinePart[];
  /** About how many tests are left out for want of these. */
  leftOut: number;
  minutes: number;
}

/** Looks at this machine. */
export async function testOutlook(): Promise<TestOutlook> {
  const names = Object.keys(MACHINE_PARTS) as PartName[];
  const here = await Promise.all(names.map((name) => MACHINE_PARTS[name].isHere()));
  return outlookWithout(names.filter((_, index) => here[index] === false));
}

/** The same for a machine that lacks these. */
export function outlookWithout(missing: readonly PartName[]): TestOutlook {
  const isLeftOut = ({ needs }: TestGroup): boolean => needs.some((name) => missing.includes(name));
  const sum = (groups: readonly TestGroup[], key: 'tests' | 'minutes'): number =>
    groups.reduce((total, group) => total + group[key], 0);
  return {
    missing: missing.map((name) => MACHINE_PARTS[name]),
    leftOut: sum(GROUPS.filter(isLeftOut), 'tests'),
    minutes: sum(
      GROUPS.filter((group) => !isLeftOut(group)),
      'minutes',
    ),
  };
}

/** The line before a run. Where only some of the tests run, their number and time are not known. */
export function outlookLine({ missing, leftOut, minutes }: TestOutlook, all: boolean): string {
  const time = `about ${minutes} minutes on two processors that do nothing else`;
  if (missing.length === 0) return all ? `tests: this machine has all that they need; they take ${time}` : '';
  const names = listOf(missing.map((part) => part.name));
  const packages = missing.flatMap((part) => part.package ?? []);
  const brought = packages.length === 0 ? '' : ` (apt-get install ${packages.join(' ')})`;
  const without = all
    ? `about ${leftOut} tests are left out; the others take ${time}`
    : 'tests that need it are left out';
  return `tests: this machine lacks ${names}${brought}; ${without}`;
}

function listOf(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
