import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ARGUMENT_RULES, UNIMPLEMENTED_CALLS } from '../../../src/sandboxes/seccomp/argument-rules.ts';
import { encodeProgram, loadWord, verdict } from '../../../src/sandboxes/seccomp/bpf-instruction.ts';
import { searchTree } from '../../../src/sandboxes/seccomp/seccomp-bpf.ts';
import { seccompBpf } from '../../../src/sandboxes/seccomp/seccomp-bpf.ts';
import { SECCOMP_GROUPS } from '../../../src/sandboxes/seccomp/seccomp-groups.ts';
import { systemCallNumbers } from '../../../src/sandboxes/seccomp/system-call-numbers.ts';
import { ALLOWED, AUDIT_ARCHITECTURES, KILLED, REFUSED, runFilter, UNIMPLEMENTED } from './bpf-interpreter.ts';
import { DENIED_ARGUMENTS, DENIED_CLASSES } from './denied-calls.ts';

const allowedNames = SECCOMP_GROUPS.flatMap(({ names }) => names);
const ruledNames = ARGUMENT_RULES.flatMap(({ names }) => names);
const deniedNames = DENIED_CLASSES.flatMap(({ calls }) => calls.map(({ name }) => name));
const noise = fc.array(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), { minLength: 6, maxLength: 6 });

describe('the lists', () => {
  test('name each system call of the table exactly once, as allowed, ruled, unimplemented or denied', () => {
    const table = new Set([...systemCallNumbers('x64').keys(), ...systemCallNumbers('arm64').keys()]);
    const listed = [...allowedNames, ...ruledNames, ...UNIMPLEMENTED_CALLS, ...deniedNames];
    expect(listed.toSorted()).toEqual([...table].toSorted());
  });
});

describe.each(['x64', 'arm64'] as const)('seccompBpf(%s)', (architecture) => {
  const program = seccompBpf(architecture);
  const numbers = systemCallNumbers(architecture);
  const auditArchitecture = AUDIT_ARCHITECTURES[architecture];

  function verdictOf(name: string, ...tried: (number | bigint)[]): number {
    const number = numbers.get(name);
    if (number === undefined) throw new Error(`${architecture} has no call ${name}`);
    return runFilter(program, { auditArchitecture, number, arguments: tried.map(BigInt) });
  }

  function here(names: readonly string[]): string[] {
    return names.filter((name) => numbers.has(name));
  }

  test('is a loadable program: whole instructions, at most 4096, forward jumps inside of it', () => {
    expect(program.length % 8).toBe(0);
    const count = program.length / 8;
    expect(count).toBeLessThanOrEqual(4096);
    const view = new DataView(program.buffer);
    for (let position = 0; position < count; position += 1) {
      const code = view.getUint16(position * 8, true);
      const far =
        code === 0x05
          ? view.getUint32(position * 8 + 4, true)
          : Math.max(view.getUint8(position * 8 + 2), view.getUint8(position * 8 + 3));
      if (code % 8 === 5) expect(position + 1 + far).toBeLessThan(count);
    }
    expect(view.getUint16((count - 1) * 8, true)).toBe(0x06);
  });

  test.each(here(allowedNames))('allows %s with any arguments', (name) => {
    fc.assert(
      fc.property(noise, (tried) => {
        expect(verdictOf(name, ...tried)).toBe(ALLOWED);
      }),
      { numRuns: 5 },
    );
  });

  test.each(here(deniedNames))('refuses %s with any arguments', (name) => {
    fc.assert(
      fc.property(noise, (tried) => {
        expect(verdictOf(name, ...tried)).toBe(REFUSED);
      }),
      { numRuns: 5 },
    );
  });

  test.each(DENIED_ARGUMENTS.filter(({ name }) => numbers.has(name)))('$title: refuses $name', (denied) => {
    const tried = denied.arguments.map((argument) => (typeof argument === 'number' ? argument : 0));
    expect(verdictOf(denied.name, ...tried)).toBe(denied.answer === 'ENOSYS' ? UNIMPLEMENTED : REFUSED);
  });

  test('A07 allows only local, IPv4, IPv6 and route sockets, with any bits above 32', () => {
    for (let family = 0; family < 64; family += 1) {
      const expected = family === 1 || family === 2 || family === 10 || family === 16 ? ALLOWED : REFUSED;
      expect([family, verdictOf('socket', family, 3, 0)]).toEqual([family, expected]);
      expect([family, verdictOf('socket', BigInt(family) + 2n ** 40n, 3, 0)]).toEqual([family, expected]);
      expect([family, verdictOf('socketpair', family, 1, 0)]).toEqual([family, family === 1 ? ALLOWED : REFUSED]);
    }
    expect(verdictOf('socket', 16, 3, 9)).toBe(REFUSED);
  });

  test('A21 allows clone for threads and processes and refuses each namespace flag', () => {
    const threadFlags = 0x3d_0f00;
    expect(verdictOf('clone', threadFlags)).toBe(ALLOWED);
    expect(verdictOf('clone', 17)).toBe(ALLOWED);
    for (const flag of [0x80, 0x2_0000, 0x200_0000, 0x400_0000, 0x800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000]) {
      expect([flag, verdictOf('clone', threadFlags + flag)]).toEqual([flag, REFUSED]);
    }
  });

  test('A23 allows mknodat for files, fifos and sockets of any mode, but not for devices, folders or links', () => {
    const allowed = [0, 0o100_644, 0o10_600, 0o140_777];
    const refused = [0o20_600, 0o60_600, 0o40_755, 0o120_777, 0o160_000];
    expect(allowed.map((mode) => verdictOf('mknodat', -100, 0, mode, 0))).toEqual(allowed.map(() => ALLOWED));
    expect(refused.map((mode) => verdictOf('mknodat', -100, 0, mode, 0))).toEqual(refused.map(() => REFUSED));
  });

  test('allows every ioctl except TIOCSTI, TIOCLINUX and TIOCSETD, with any bits above 32', () => {
    const refused = new Set([0x5412, 0x541c, 0x5423]);
    for (let request = 0x5400; request < 0x5500; request += 1) {
      const expected = refused.has(request) ? REFUSED : ALLOWED;
      expect([request, verdictOf('ioctl', 0, request)]).toEqual([request, expected]);
      expect([request, verdictOf('ioctl', 0, BigInt(request) + 2n ** 63n)]).toEqual([request, expected]);
    }
    expect(verdictOf('ioctl', 0, 0xc020_9409)).toBe(ALLOWED);
  });

  test('allows personality only to query or to set the usual values', () => {
    expect([0, 0x2_0000, 0xffff_ffff].map((value) => verdictOf('personality', value))).toEqual([
      ALLOWED,
      ALLOWED,
      ALLOWED,
    ]);
    expect([8, 0x4_0000, 0x40_0000, 0x44_0000].map((value) => verdictOf('personality', value))).toEqual([
      REFUSED,
      REFUSED,
      REFUSED,
      REFUSED,
    ]);
  });

  test('refuses unused numbers, and answers ENOSYS to calls newer than the table', () => {
    const newest = Math.max(...numbers.values());
    const taken = new Set(numbers.values());
    for (let number = 0; number < newest + 1000; number += 1) {
      if (taken.has(number)) continue;
      const expected = number > newest ? UNIMPLEMENTED : REFUSED;
      expect([number, runFilter(program, { auditArchitecture, number })]).toEqual([number, expected]);
    }
  });

  test('kills a caller through the interface of another architecture', () => {
    for (const other of Object.values(AUDIT_ARCHITECTURES).filter((value) => value !== auditArchitecture)) {
      for (const number of [0, 1, 20, 39, 60, 400]) {
        expect(runFilter(program, { auditArchitecture: other, number })).toBe(KILLED);
      }
    }
  });
});

test('seccompBpf(x64) kills calls of the x32 interface, which shares its architecture', () => {
  const program = seccompBpf('x64');
  for (const number of [0, 1, 39, 59, 512, 520, 547]) {
    const x32 = { auditArchitecture: AUDIT_ARCHITECTURES.x64, number: 0x4000_0000 + number };
    expect([number, runFilter(program, x32)]).toEqual([number, KILLED]);
  }
  expect(runFilter(program, { auditArchitecture: AUDIT_ARCHITECTURES.x64, number: 0xffff_ffff })).toBe(KILLED);
});

test('searchTree() finds each range, with more code than a conditional jump can skip', () => {
  const firsts = fc.uniqueArray(fc.integer({ min: 0, max: 2 ** 32 - 1 }), { minLength: 1, maxLength: 1500 });
  fc.assert(
    fc.property(firsts, fc.integer({ min: 0, max: 2 ** 32 - 1 }), (unsorted, wanted) => {
      const sorted = unsorted.toSorted((left, right) => left - right);
      const tree = searchTree(sorted.map((first) => ({ first, code: [verdict(first)] })));
      const program = encodeProgram([loadWord(0), ...tree]);
      const found = (number: number): number => runFilter(program, { auditArchitecture: 0, number });
      for (const number of [wanted, ...sorted.slice(0, 3), ...sorted.slice(-3)]) {
        expect(found(number)).toBe(sorted.findLast((first) => first <= number) ?? sorted[0]);
      }
    }),
    { numRuns: 40, examples: [[Array.from({ length: 2000 }, (_, index) => index * 7), 6999]] },
  );
});
