import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { blocksOfOtherValues } from '../../../src/sandboxes/seccomp/blocks-of-other-values.ts';
import { seccompBpf } from '../../../src/sandboxes/seccomp/seccomp-bpf.ts';
import { seccompEngineProfile } from '../../../src/sandboxes/seccomp/seccomp-engine-profile.ts';
import { systemCallNumbers } from '../../../src/sandboxes/seccomp/system-call-numbers.ts';
import { AUDIT_ARCHITECTURES, KILLED, runFilter } from './bpf-interpreter.ts';
import { PYTHON } from './bubblewrap-run.ts';
import { DENIED_ARGUMENTS, DENIED_CLASSES } from './denied-calls.ts';
import { describeWith } from '../../fixtures/describe-with.ts';

/** SECCOMP_RET_KILL_THREAD, the default of libseccomp for another architecture. */
const KILLED_THREAD = 0;

describe('seccompEngineProfile()', () => {
  const profile = seccompEngineProfile();

  test('refuses with EPERM by default, for both architectures without their other interfaces', () => {
    expect(profile).toMatchObject({ defaultAction: 'SCMP_ACT_ERRNO', defaultErrnoRet: 1 });
    expect(profile.archMap).toEqual([
      { architecture: 'SCMP_ARCH_X86_64', subArchitectures: [] },
      { architecture: 'SCMP_ARCH_AARCH64', subArchitectures: [] },
    ]);
  });

  test('names no call of a denied class, and answers clone3 with ENOSYS', () => {
    const named = new Set(profile.syscalls.flatMap(({ names }) => names));
    expect(
      DENIED_CLASSES.flatMap(({ calls }) => calls.map(({ name }) => name)).filter((name) => named.has(name)),
    ).toEqual([]);
    expect(profile.syscalls.filter(({ names }) => names.includes('clone3'))).toEqual([
      { names: ['clone3'], action: 'SCMP_ACT_ERRNO', errnoRet: 38 },
    ]);
  });

  test('tests each argument once per rule, as engines require, and never allows a call with argument rules without one', () => {
    const ruled = new Set(profile.syscalls.filter(({ args }) => args !== undefined).flatMap(({ names }) => names));
    expect([...ruled].toSorted()).toEqual([
      'clone',
      'ioctl',
      'mknod',
      'mknodat',
      'personality',
      'socket',
      'socketpair',
    ]);
    for (const { names, args } of profile.syscalls) {
      expect(new Set(args?.map(({ index }) => index)).size).toBe(args?.length ?? 0);
      if (args === undefined) expect(names.filter((name) => ruled.has(name))).toEqual([]);
    }
  });
});

test('blocksOfOtherValues() contains every 32-bit value once, except the given ones', () => {
  const value = fc.integer({ min: 0, max: 2 ** 32 - 1 });
  fc.assert(
    fc.property(
      fc.uniqueArray(value, { maxLength: 5 }),
      value,
      fc.integer({ min: 0, max: 31 }),
      (excluded, any, bit) => {
        const blocks = blocksOfOtherValues(excluded);
        const near = excluded.map((one) => (one ^ (2 ** bit)) >>> 0);
        for (const tried of [any, ...excluded, ...near]) {
          const holding = blocks.filter((block) => (tried & block.mask) >>> 0 === block.value);
          expect(holding.length).toBe(excluded.includes(tried) ? 0 : 1);
        }
      },
    ),
  );
});

function missingLibseccomp(): string | undefined {
  if (!existsSync(PYTHON)) return PYTHON;
  const loaded = spawnSync(PYTHON, ['-I', '-c', 'import ctypes; ctypes.CDLL("libseccomp.so.2")']);
  return loaded.status === 0 ? undefined : 'libseccomp.so.2';
}

describeWith('the filter of libseccomp from the profile', missingLibseccomp(), () => {
  describe.each([
    ['x64', 'SCMP_ARCH_X86_64'],
    ['arm64', 'SCMP_ARCH_AARCH64'],
  ] as const)('for %s', (architecture, token) => {
    const ours = seccompBpf(architecture);
    const auditArchitecture = AUDIT_ARCHITECTURES[architecture];
    let theirs: Uint8Array;
    let comparable: [string, number][];

    beforeAll(() => {
      const script = fileURLToPath(new URL('engine-profile-to-bpf.py', import.meta.url));
      const input = JSON.stringify({ profile: seccompEngineProfile(), architecture: token });
      const made = spawnSync(PYTHON, ['-I', script], { input, encoding: 'utf8' });
      if (made.status !== 0) throw new Error(made.stderr);
      const { program, unknown } = JSON.parse(made.stdout) as { program: string; unknown: string[] };
      theirs = Buffer.from(program, 'hex');
      comparable = [...systemCallNumbers(architecture)].filter(([name]) => !unknown.includes(name));
    });

    test('gives the same verdicts as seccompBpf() on every known call, with any arguments', () => {
      expect(comparable.length).toBeGreaterThan(290);
      const word = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.bigInt({ min: 0n, max: 64n }));
      const arguments_ = fc.array(word, { minLength: 6, maxLength: 6 });
      for (const [name, number] of comparable) {
        fc.assert(
          fc.property(arguments_, (tried) => {
            const call = { auditArchitecture, number, arguments: tried };
            expect([name, tried, runFilter(theirs, call)]).toEqual([name, tried, runFilter(ours, call)]);
          }),
          { numRuns: 8 },
        );
      }
    });

    test('gives the same verdicts on every value near the values of the rules, with and without bits above 32', () => {
      const numbers = new Map(comparable);
      const modes = [0, 0o10_000, 0o20_000, 0o40_000, 0o60_000, 0o100_000, 0o120_000, 0o140_000].flatMap((type) => [
        type,
        type + 0o644,
      ]);
      const tries: [string, number, number[]][] = [
        ['ioctl', 1, Array.from({ length: 256 }, (_, index) => 0x5400 + index)],
        ['socket', 0, Array.from({ length: 64 }, (_, family) => family)],
        ['socketpair', 0, Array.from({ length: 64 }, (_, family) => family)],
        ['clone', 0, Array.from({ length: 32 }, (_, bit) => 2 ** bit)],
        ['personality', 0, [0, 8, 0x2_0000, 0x2_0008, 0x4_0000, 0xffff_ffff]],
        ['mknod', 1, modes],
        ['mknodat', 2, modes],
      ];
      for (const [name, index, values] of tries) {
        const number = numbers.get(name);
        if (number === undefined) continue;
        for (const value of values.flatMap((low) => [BigInt(low), BigInt(low) + 2n ** 33n])) {
          const call = {
            auditArchitecture,
            number,
            arguments: Array.from({ length: 6 }, (_, at) => (at === index ? value : 0n)),
          };
          expect([name, value, runFilter(theirs, call)]).toEqual([name, value, runFilter(ours, call)]);
        }
      }
      for (const { name, arguments: tried } of DENIED_ARGUMENTS) {
        const number = numbers.get(name);
        if (number === undefined) continue;
        const call = {
          auditArchitecture,
          number,
          arguments: tried.map((word) => BigInt(typeof word === 'number' ? word : 0)),
        };
        expect([name, tried, runFilter(theirs, call)]).toEqual([name, tried, runFilter(ours, call)]);
      }
    });

    test('kills callers through another interface', () => {
      const foreign = Object.values(AUDIT_ARCHITECTURES).filter((value) => value !== auditArchitecture);
      const verdicts = foreign.map((other) => runFilter(theirs, { auditArchitecture: other, number: 1 }));
      if (architecture === 'x64') verdicts.push(runFilter(theirs, { auditArchitecture, number: 0x4000_0001 }));
      for (const verdict of verdicts) expect([KILLED, KILLED_THREAD]).toContain(verdict);
    });
  });
});
