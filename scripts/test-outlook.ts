import { MACHINE_PARTS, type MachinePart, type PartName } from './machine-parts.ts';
import type { SuitePart } from './suite-parts.ts';

/** Tests that need the same parts of the machine, and their amount in `npm test` and in all tests. */
interface TestGroup {
  needs: readonly PartName[];
  quick: Amount;
  all: Amount;
}

interface Amount {
  /** The approximate number of tests. The bare pass of CI fails when the sum of the left-out groups is far from the number of skipped tests. */
  tests: number;
  /** The approximate duration on two processors that do nothing else. */
  minutes: number;
}

const GROUPS: readonly TestGroup[] = [
  { needs: [], quick: { tests: 7_100, minutes: 3 }, all: { tests: 8_700, minutes: 9 } },
  { needs: ['python'], quick: { tests: 60, minutes: 0.25 }, all: { tests: 330, minutes: 3 } },
  { needs: ['bubblewrap'], quick: { tests: 25, minutes: 0.25 }, all: { tests: 445, minutes: 4.5 } },
  { needs: ['bubblewrap', 'python'], quick: { tests: 5, minutes: 0 }, all: { tests: 255, minutes: 2.5 } },
  { needs: ['engine'], quick: { tests: 15, minutes: 0.25 }, all: { tests: 285, minutes: 5.5 } },
  { needs: ['engine', 'python'], quick: { tests: 5, minutes: 0 }, all: { tests: 225, minutes: 3 } },
  { needs: ['engine', 'root', 'gvisor'], quick: { tests: 0, minutes: 0 }, all: { tests: 15, minutes: 0.5 } },
  { needs: ['engine', 'root', 'crun'], quick: { tests: 0, minutes: 0 }, all: { tests: 5, minutes: 0.25 } },
  { needs: ['root'], quick: { tests: 0, minutes: 0 }, all: { tests: 20, minutes: 0.25 } },
  { needs: ['ceph'], quick: { tests: 0, minutes: 0 }, all: { tests: 66, minutes: 1 } },
  { needs: ['postgres'], quick: { tests: 0, minutes: 0 }, all: { tests: 55, minutes: 0 } },
  { needs: ['redis'], quick: { tests: 5, minutes: 0 }, all: { tests: 665, minutes: 6 } },
  { needs: ['chromium'], quick: { tests: 0, minutes: 0 }, all: { tests: 19, minutes: 1 } },
  { needs: ['strace'], quick: { tests: 5, minutes: 0 }, all: { tests: 5, minutes: 0 } },
];

/** The expected run of a part of the tests on a machine. */
export interface TestOutlook {
  part: SuitePart;
  missing: MachinePart[];
  /** The approximate number of tests that need missing parts and are left out. */
  leftOut: number;
  minutes: number;
}

/** The expected run on this machine. */
export async function testOutlook(part: SuitePart): Promise<TestOutlook> {
  const names = Object.keys(MACHINE_PARTS) as PartName[];
  const here = await Promise.all(names.map((name) => MACHINE_PARTS[name].isHere()));
  return outlookWithout(
    part,
    names.filter((_, index) => here[index] === false),
  );
}

/** The expected run on a machine that lacks these parts. */
export function outlookWithout(part: SuitePart, missing: readonly PartName[]): TestOutlook {
  const isLeftOut = ({ needs }: TestGroup): boolean => needs.some((name) => missing.includes(name));
  const sum = (groups: readonly TestGroup[], key: keyof Amount): number =>
    groups.reduce((total, { quick, all }) => {
      const amount = { quick: quick[key], all: all[key], rest: all[key] - quick[key] };
      return total + amount[part];
    }, 0);
  return {
    part,
    missing: missing.map((name) => MACHINE_PARTS[name]),
    leftOut: sum(GROUPS.filter(isLeftOut), 'tests'),
    minutes: Math.ceil(
      sum(
        GROUPS.filter((group) => !isLeftOut(group)),
        'minutes',
      ),
    ),
  };
}

const NAMES: Readonly<Record<SuitePart, string>> = {
  quick: 'the tests for a change',
  rest: 'the other tests',
  all: 'all tests',
};

/** The line before a run. Without numbers and times if only some files of a part run. */
export function outlookLine({ part, missing, leftOut, minutes }: TestOutlook, isWhole: boolean): string {
  const time = `about ${minutes} minutes on two processors that do nothing else`;
  if (missing.length === 0)
    return isWhole ? `tests: this machine has all that they need; ${NAMES[part]} take ${time}` : '';
  const names = listOf(missing.map(({ name }) => name));
  const packages = missing.flatMap((lacking) => lacking.package ?? []);
  const brought = packages.length === 0 ? '' : ` (apt-get install ${packages.join(' ')})`;
  const without = isWhole
    ? `about ${leftOut} of ${NAMES[part]} are left out; the others take ${time}`
    : 'tests that need it are left out';
  return `tests: this machine lacks ${names}${brought}; ${without}`;
}

function listOf(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
