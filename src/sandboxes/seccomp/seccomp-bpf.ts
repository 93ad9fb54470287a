import { ARGUMENT_RULES, type ArgumentRule, UNIMPLEMENTED_CALLS } from './argument-rules.ts';
import {
  type BpfInstruction,
  encodeProgram,
  FARTHEST_CONDITIONAL_JUMP,
  keepBits,
  loadWord,
  skip,
  skipIfAtLeast,
  skipIfEqual,
  verdict,
} from './bpf-instruction.ts';
import { SECCOMP_GROUPS } from './seccomp-groups.ts';
import { type SeccompArchitecture, systemCallNumbers } from './system-call-numbers.ts';

/** Consecutive call numbers with the same code, which ends in a verdict. A range ends where the next one begins. */
export interface NumberRange {
  readonly first: number;
  readonly code: readonly BpfInstruction[];
}

/** Byte offsets in `struct seccomp_data`; both architectures are little endian, so an argument's lower half comes first. */
const NUMBER_OFFSET = 0;
const ARCHITECTURE_OFFSET = 4;
const ARGUMENTS_OFFSET = 16;
const BYTES_PER_ARGUMENT = 8;

/** AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64 of `linux/audit.h`. */
const AUDIT_ARCHITECTURES: Record<SeccompArchitecture, number> = { x64: 0xc000_003e, arm64: 0xc000_00b7 };

/** Set in the number of every call of the x32 interface, which shares its audit architecture with x86_64. */
const X32_CALL_BIT = 0x4000_0000;

const EPERM = 1;
const ENOSYS = 38;
const SECCOMP_RET_ERRNO = 0x0005_0000;

type Code = readonly BpfInstruction[];

const KILL: Code = [verdict(0x8000_0000)];
const ALLOW: Code = [verdict(0x7fff_0000)];
const REFUSE: Code = [verdict(SECCOMP_RET_ERRNO | EPERM)];
const UNIMPLEMENTED: Code = [verdict(SECCOMP_RET_ERRNO | ENOSYS)];

function loadArgument(index: number): BpfInstruction {
  return loadWord(ARGUMENTS_OFFSET + index * BYTES_PER_ARGUMENT);
}

/** Code that decides by the arguments of a call. */
function codeOfRule(rule: ArgumentRule): Code {
  if ('refuseValues' in rule) {
    const { index, values } = rule.refuseValues;
    return [loadArgument(index), ...values.flatMap((value) => [skipIfEqual(value, 0, 1), ...REFUSE]), ...ALLOW];
  }
  const alternatives = rule.allowWhen.flatMap((tests) =>
    tests.reduceRight<Code>(
      (rest, { index, mask, value }) => [
        loadArgument(index),
        keepBits(mask),
        skipIfEqual(value, 0, rest.length),
        ...rest,
      ],
      ALLOW,
    ),
  );
  return [...alternatives, ...REFUSE];
}

/** The code of every call number that is not refused. */
function codeByNumber(numbers: ReadonlyMap<string, number>): Map<number, Code> {
  const codes = new Map<number, Code>();
  const assign = (names: readonly string[], code: Code): void => {
    for (const name of names) {
      const number = numbers.get(name);
      if (number !== undefined) codes.set(number, code);
    }
  };
  for (const { names } of SECCOMP_GROUPS) assign(names, ALLOW);
  for (const rule of ARGUMENT_RULES) assign(rule.names, codeOfRule(rule));
  assign(UNIMPLEMENTED_CALLS, UNIMPLEMENTED);
  return codes;
}

/** All call numbers; consecutive numbers with the same code form one range. */
function numberRanges(numbers: ReadonlyMap<string, number>): NumberRange[] {
  const codes = codeByNumber(numbers);
  const newest = Math.max(...numbers.values());
  const ranges: NumberRange[] = [];
  for (let number = 0; number <= newest; number += 1) {
    const code = codes.get(number) ?? REFUSE;
    if (ranges.at(-1)?.code !== code) ranges.push({ first: number, code });
  }
  // On ENOSYS, libc falls back from a newer call to an older one; it takes EPERM as final.
  ranges.push({ first: newest + 1, code: UNIMPLEMENTED });
  return ranges;
}

/**
 * The seccomp filter of user code as a classic BPF program: an array of `struct sock_filter`, in the form that bubblewrap reads from
 * the descriptor of `--seccomp`. Unlisted calls fail with EPERM, calls newer than the table with ENOSYS. A call through the interface
 * of another architecture (i386, x32, 32-bit arm) kills the process, because its numbers mean other calls.
 *
 * @param architecture target processor, as in `process.arch`
 * @returns the bytes of the program
 */
export function seccompBpf(architecture: SeccompArchitecture): Uint8Array {
  const foreignNumbers = architecture === 'x64' ? [skipIfAtLeast(X32_CALL_BIT, 0, 1), ...KILL] : [];
  return encodeProgram([
    loadWord(ARCHITECTURE_OFFSET),
    skipIfEqual(AUDIT_ARCHITECTURES[architecture], 1, 0),
    ...KILL,
    loadWord(NUMBER_OFFSET),
    ...foreignNumbers,
    ...searchTree(numberRanges(systemCallNumbers(architecture))),
  ]);
}

/**
 * A binary search for the range of the number in the accumulator. The leaves are the code of the ranges.
 *
 * @param ranges at least one range, ascending; numbers below the first range belong to it
 */
export function searchTree(ranges: readonly NumberRange[]): readonly BpfInstruction[] {
  const half = ranges.length >> 1;
  const middle = ranges[half];
  if (middle === undefined) return [];
  if (half === 0) return middle.code;
  const lower = searchTree(ranges.slice(0, half));
  const upper = searchTree(ranges.slice(half));
  const branch =
    lower.length <= FARTHEST_CONDITIONAL_JUMP
      ? [skipIfAtLeast(middle.first, lower.length, 0)]
      : [skipIfAtLeast(middle.first, 0, 1), skip(lower.length)];
  return [...branch, ...lower, ...upper];
}
