/** A system call in the form of `struct seccomp_data`. */
export interface SystemCall {
  /** The AUDIT_ARCH value of the interface of the call. */
  auditArchitecture: number;
  number: number;
  /** Up to six arguments of 64 bits; missing ones are 0. */
  arguments?: readonly bigint[];
}

export const AUDIT_ARCHITECTURES = { x64: 0xc000_003e, arm64: 0xc000_00b7, i386: 0x4000_0003, arm32: 0x4000_0028 };

export const ALLOWED = 0x7fff_0000;
export const REFUSED = 0x0005_0001;
export const UNIMPLEMENTED = 0x0005_0026;
export const KILLED = 0x8000_0000;

interface Instruction {
  code: number;
  jumpTrue: number;
  jumpFalse: number;
  operand: number;
}

function instructions(program: Uint8Array): Instruction[] {
  const view = new DataView(program.buffer, program.byteOffset, program.byteLength);
  return Array.from({ length: program.length / 8 }, (_, position) => ({
    code: view.getUint16(position * 8, true),
    jumpTrue: view.getUint8(position * 8 + 2),
    jumpFalse: view.getUint8(position * 8 + 3),
    operand: view.getUint32(position * 8 + 4, true),
  }));
}

function callData(call: SystemCall): DataView {
  const view = new DataView(new ArrayBuffer(64));
  view.setUint32(0, call.number, true);
  view.setUint32(4, call.auditArchitecture, true);
  for (const [index, value] of (call.arguments ?? []).entries())
    view.setBigUint64(16 + index * 8, BigInt.asUintN(64, value), true);
  return view;
}

/** Runs a classic BPF program like the kernel, and throws if the kernel would refuse to load it. */
export function runFilter(program: Uint8Array, call: SystemCall): number {
  const code = instructions(program);
  const data = callData(call);
  let accumulator = 0;
  let position = 0;
  for (;;) {
    const current = code[position];
    if (current === undefined) throw new Error(`the program runs past its end, at instruction ${position}`);
    const { operand } = current;
    const jump = (holds: boolean): number => (holds ? current.jumpTrue : current.jumpFalse);
    position += 1;
    switch (current.code) {
      case 0x06:
        return operand;
      case 0x05:
        position += operand;
        break;
      case 0x15:
        position += jump(accumulator === operand);
        break;
      case 0x25:
        position += jump(accumulator > operand);
        break;
      case 0x35:
        position += jump(accumulator >= operand);
        break;
      case 0x45:
        position += jump((accumulator & operand) !== 0);
        break;
      case 0x54:
        accumulator = (accumulator & operand) >>> 0;
        break;
      case 0x20:
        if (operand > 60 || operand % 4 !== 0) throw new Error(`a load at offset ${operand}, outside of seccomp_data`);
        accumulator = data.getUint32(operand, true);
        break;
      default:
        throw new Error(`an unknown instruction: 0x${current.code.toString(16)}`);
    }
  }
}
