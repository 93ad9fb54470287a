import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { systemCallNumbers } from '../../../src/sandboxes/seccomp/system-call-numbers.ts';
import { missingForPython, missingForRights, PYTHON, SandboxFolder } from './bubblewrap-run.ts';
import { DENIED_ARGUMENTS, DENIED_CLASSES, type DeniedCall, type ProbeRights } from './denied-calls.ts';
import { describeWith } from '../../fixtures/describe-with.ts';

const architecture = process.arch === 'arm64' ? 'arm64' : 'x64';
const numbers = systemCallNumbers(architecture);

function availableHere<Call extends DeniedCall>(calls: readonly Call[]): Call[] {
  return calls.filter(({ name, rights }) => numbers.has(name) && missingForRights(rights) === undefined);
}

function calledWithoutRights<Call extends DeniedCall>(calls: readonly Call[]): Call[] {
  return calls.filter(({ name, rights }) => numbers.has(name) && missingForRights(rights) !== undefined);
}

const UID_0_ONLY = 'only a caller with uid 0 sees a difference';

type Probe = { number: number; arguments: readonly (number | string)[] } | { machineCode: string };

function probeOf({ name, arguments: tried }: DeniedCall): Probe {
  return { number: numbers.get(name) ?? -1, arguments: tried };
}

describeWith('under bubblewrap', missingForPython(), () => {
  let folder: SandboxFolder;
  let script: string;
  const outcomes = new Map<string, string>();
  const everyCall = [...DENIED_CLASSES.flatMap(({ calls }) => calls), ...DENIED_ARGUMENTS];

  function probe(rights: ProbeRights, filter: boolean, probes: readonly Probe[]): string[] {
    const run = folder.run(rights, filter, [PYTHON, '-I', script, JSON.stringify(probes)]);
    if (run.status !== 0) throw new Error(`the probe failed with ${run.status}: ${run.stderr}`);
    return JSON.parse(run.stdout) as string[];
  }

  function keyOf(call: DeniedCall, filter: boolean): string {
    return JSON.stringify([call.name, call.arguments, filter]);
  }

  function outcomeOf(call: DeniedCall, filter: boolean): string {
    return outcomes.get(keyOf(call, filter)) ?? 'not tried';
  }

  beforeAll(() => {
    folder = new SandboxFolder();
    script = folder.add('probe.py', fileURLToPath(new URL('system-call-probe.py', import.meta.url)));
    for (const rights of ['user', 'namespace', 'root'] as const) {
      const calls = availableHere(everyCall).filter((call) => call.rights === rights);
      if (calls.length === 0) continue;
      for (const filter of [true, false]) {
        const found = probe(rights, filter, calls.map(probeOf));
        for (const [index, call] of calls.entries()) outcomes.set(keyOf(call, filter), found[index] ?? 'no answer');
      }
    }
  });

  afterAll(() => folder[Symbol.dispose]());

  for (const { attacks, title, calls } of DENIED_CLASSES) {
    describe([...attacks, title].join(' '), () => {
      test.each(availableHere(calls))('$name answers EPERM to a caller with the rights of $rights', (call) => {
        expect(outcomeOf(call, true)).toBe('EPERM');
      });
      test.each(availableHere(calls))('without the filter, $name answers something else', (call) => {
        expect(outcomeOf(call, false)).toMatch(/^(ok|E(?!PERM$)[A-Z]+)$/);
      });
      for (const { name } of calledWithoutRights(calls)) test(name, ({ skip }) => skip(UID_0_ONLY));
    });
  }

  describe('calls that are allowed with other arguments', () => {
    test.each(availableHere(DENIED_ARGUMENTS))('$title: $name answers $answer', (call) => {
      expect(outcomeOf(call, true)).toBe(call.answer);
    });
    test.each(availableHere(DENIED_ARGUMENTS))('$title: without the filter, $name answers something else', (call) => {
      expect(outcomeOf(call, false)).toMatch(/^(ok|E[A-Z]+)$/);
      expect(outcomeOf(call, false)).not.toBe(call.answer);
    });
    for (const { name, title } of calledWithoutRights(DENIED_ARGUMENTS)) {
      test(`${title}: ${name}`, ({ skip }) => skip(UID_0_ONLY));
    }
  });

  test('a call newer than the table answers ENOSYS, so that libc falls back to an older one', () => {
    expect(probe('user', true, [{ number: Math.max(...numbers.values()) + 1, arguments: [] }])).toEqual(['ENOSYS']);
  });

  describe('other interfaces of x86_64', () => {
    const GETPID_OF_X32: Probe = { number: 0x4000_0000 + 39, arguments: [] };
    /** mov $20,%eax; int $0x80; ret: getpid of i386; its number is another call on x86_64. */
    const GETPID_OF_I386: Probe = { machineCode: 'b814000000cd80c3' };

    beforeEach(({ skip }) => skip(architecture !== 'x64', 'this machine is not x86_64'));

    test('kill the caller', () => {
      // A kernel without the calls of i386 ends the caller before the filter runs.
      const [plainly] = probe('user', false, [GETPID_OF_I386]);
      const end = plainly === 'SIGSEGV' ? 'SIGSEGV' : 'SIGSYS';
      expect(probe('user', true, [GETPID_OF_X32, GETPID_OF_I386])).toEqual(['SIGSYS', end]);
    });

    test('without the filter, do not raise SIGSYS', () => {
      expect(probe('user', false, [GETPID_OF_X32, GETPID_OF_I386])).not.toContain('SIGSYS');
    });
  });
});
