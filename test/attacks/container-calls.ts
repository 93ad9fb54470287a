import { readFileSync } from 'node:fs';
import { systemCallNumbers } from '../../src/sandboxes/seccomp/system-call-numbers.ts';
import { DENIED_ARGUMENTS, DENIED_CLASSES, type DeniedCall } from '../sandboxes/seccomp/denied-calls.ts';
import type { ContainerChange } from '../fixtures/changed-container.ts';
import { allowing, ALL_RIGHTS } from './container-changes.ts';
import type { ContainerAttack } from './container-scene.ts';

const numbers = systemCallNumbers(process.arch === 'arm64' ? 'arm64' : 'x64');
const probe = readFileSync(new URL('../sandboxes/seccomp/system-call-probe.py', import.meta.url), 'utf8');

interface CallClass {
  id: string;
  title: string;
  calls: readonly DeniedCall[];
}

/** Each class of refused calls, and each call that is refused with some arguments only. */
const CLASSES: readonly CallClass[] = [
  ...DENIED_CLASSES.map(({ attacks, title, calls }) => ({ id: attacks[0] ?? 'A24', title, calls })),
  ...[...new Set(DENIED_ARGUMENTS.map(({ name }) => name))].map((name) => ({
    id: 'A24',
    title: `arguments of ${name}`,
    calls: DENIED_ARGUMENTS.filter((call) => call.name === name),
  })),
].map((row) => ({ ...row, calls: row.calls.filter(({ name }) => numbers.has(name)) }));

/** The filter with one class of calls allowed, for a program with all other rights, so that the kernel itself answers. */
export const CALL_CHANGES: Record<string, ContainerChange> = Object.fromEntries(
  CLASSES.map(({ title, calls }) => [
    `system calls: ${title}`,
    {
      ...ALL_RIGHTS,
      options: (options) => {
        ALL_RIGHTS.options?.(options);
        allowing(options, [...new Set(calls.map(({ name }) => name))]);
      },
    } satisfies ContainerChange,
  ]),
);

/** For each class of refused calls: none of them reaches the kernel. */
export const CALL_ATTACKS: readonly ContainerAttack[] = CLASSES.map(({ id, title, calls }) => ({
  id,
  title: `reaches no system call of the class: ${title}`,
  opens: [`system calls: ${title}`],
  async attempt({ job }) {
    const probes = calls.map(({ name, arguments: tried }) => ({ number: numbers.get(name) ?? -1, arguments: tried }));
    const result = await job({ code: probe, args: [JSON.stringify(probes)] });
    const answers = JSON.parse(result.stdout.text) as string[];
    const reached = calls.filter(
      (_, index) => answers[index] !== 'EPERM' && !isUnknown(calls[index]?.name ?? '', answers[index]),
    );
    return {
      blocked: reached.length === 0,
      evidence:
        reached.length === 0
          ? `${calls.length} calls refused by the filter`
          : `reached: ${reached.map(({ name }) => name).join(', ')}`,
    };
  },
}));

/** clone3 answers ENOSYS by the project's rule, and an engine gives the same answer for calls newer than its own table. */
function isUnknown(name: string, answer: string | undefined): boolean {
  return answer === 'ENOSYS' && (name === 'clone3' || (numbers.get(name) ?? 0) > 440);
}
