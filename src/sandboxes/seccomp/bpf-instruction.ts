/**
 * One classic BPF instruction, `struct sock_filter` of `linux/filter.h`. Jump offsets count skipped instructions, so a sequence of
 * instructions can be moved as a whole.
 */
export interface BpfInstruction {
  readonly code: number;
  readonly jumpTrue: number;
  readonly jumpFalse: number;
  readonly operand: number;
}

/** Maximum distance of a conditional jump: its offsets have 8 bits. */
export const FARTHEST_CONDITIONAL_JUMP = 255;

const BYTES_PER_INSTRUCTION = 8;

function instruction(code: number, operand: number, jumpTrue = 0, jumpFalse = 0): BpfInstruction {
  return { code, jumpTrue, jumpFalse, operand };
}

/** `BPF_LD | BPF_W | BPF_ABS`: the accumulator becomes the 32-bit word at a byte offset of `struct seccomp_data`. */
export function loadWord(offset: number): BpfInstruction {
  return instruction(0x20, offset);
}

/** `BPF_ALU | BPF_AND | BPF_K`: keeps the bits of the mask. */
export function keepBits(mask: number): BpfInstruction {
  return instruction(0x54, mask);
}

/** `BPF_JMP | BPF_JA`: skips `count` instructions, without the limit of a conditional jump. */
export function skip(count: number): BpfInstruction {
  return instruction(0x05, count);
}

/** `BPF_JMP | BPF_JEQ | BPF_K`: skips `jumpTrue` instructions if the accumulator equals the value, else `jumpFalse`. */
export function skipIfEqual(value: number, jumpTrue: number, jumpFalse: number): BpfInstruction {
  return instruction(0x15, value, jumpTrue, jumpFalse);
}

/** `BPF_JMP | BPF_JGE | BPF_K`: like {@link skipIfEqual}, if the unsigned accumulator is at least the value. */
export function skipIfAtLeast(value: number, jumpTrue: number, jumpFalse: number): BpfInstruction {
  return instruction(0x35, value, jumpTrue, jumpFalse);
}

/** `BPF_RET | BPF_K`: ends the program with a verdict. */
export function verdict(value: number): BpfInstruction {
  return instruction(0x06, value);
}

/** The bytes of a program: an array of `struct sock_filter` in little endian, the order of both architectures. */
export function encodeProgram(program: readonly BpfInstruction[]): Uint8Array {
  const bytes = new Uint8Array(program.length * BYTES_PER_INSTRUCTION);
  const view = new DataView(bytes.buffer);
  for (const [position, { code, jumpTrue, jumpFalse, operand }] of program.entries()) {
    const start = position * BYTES_PER_INSTRUCTION;
    view.setUint16(start, code, true);
    view.setUint8(start + 2, jumpTrue);
    view.setUint8(start + 3, jumpFalse);
    view.setUint32(start + 4, operand, true);
  }
  return bytes;
}
