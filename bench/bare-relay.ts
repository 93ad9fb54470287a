import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { measureCalls, type CallCounts, type CallReport } from './measure-calls.ts';

/** Arguments of a Node that replaces a supervisor: it has a program as its child, and communicates over its stdin and stdout. */
export function bareRelay(counts: CallCounts): string[] {
  const text = [measureCalls, joinFrames, writeFrame, program].map(String).join('\n');
  const own = `import { Socket } from 'node:net';\n${text}`;
  const child = `${own}\nawait program(${JSON.stringify(counts)});`;
  return relayTo(undefined, ['--input-type=module', '-e', child]);
}

/**
 * Arguments of a Node that relays bytes between its stdin and stdout and the descriptors 3 and 4 of a child.
 *
 * @param command command of the child; undefined for the same Node, whose path differs in a container
 */
export function relayTo(command: string | undefined, args: readonly string[]): string[] {
  const imports = `import { spawn } from 'node:child_process';\nimport { Socket } from 'node:net';`;
  const call = `relay(${JSON.stringify(command) ?? 'process.execPath'}, ${JSON.stringify(args)});`;
  return ['--input-type=module', '-e', `${imports}\n${String(relay)}\n${call}`];
}

/** Starts a Node in a bare sandbox of bubblewrap. */
export function spawnInBubblewrap(args: readonly string[]): ChildProcessByStdio<Writable, Readable, null> {
  const shared = ['--ro-bind', '/', '/', '--unshare-all', '--die-with-parent', '--proc', '/proc', '--dev', '/dev'];
  return spawn('/usr/bin/bwrap', [...shared, '--', process.execPath, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
}

/** Answers the calls of a {@link bareRelay} until it reports. */
export async function answerBareRelay(input: Readable, output: Writable): Promise<CallReport> {
  return await new Promise((resolve, reject) => {
    input.on('close', () => reject(new Error('Cannot measure: the relay ended early.')));
    joinFrames(input, ({ id, args, report }) => {
      if (report === undefined) writeFrame(output, { id, value: args });
      else resolve(report as CallReport);
    });
  });
}

/** A frame is 4 bytes of length, then JSON. */
export function writeFrame(output: Writable, message: object): void {
  const text = JSON.stringify(message);
  const length = Buffer.byteLength(text);
  const frame = Buffer.allocUnsafe(4 + length);
  frame.writeUInt32LE(length);
  frame.write(text, 4);
  output.write(frame);
}

/** Splits a stream into frames, in their order. */
export function joinFrames(input: Readable, onMessage: (message: Record<string, unknown>) => void): void {
  let held: Buffer = Buffer.alloc(0);
  input.on('data', (chunk: Buffer) => {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    while (held.length >= 4 && held.length >= 4 + held.readUInt32LE(0)) {
      const end = 4 + held.readUInt32LE(0);
      onMessage(JSON.parse(held.toString('utf8', 4, end)) as Record<string, unknown>);
      held = held.subarray(end);
    }
  });
}

/** Relays bytes between its own streams and the streams of its child. */
function relay(command: string, args: readonly string[]): void {
  const stdio = ['ignore', 'ignore', 'inherit', 'pipe', 'pipe'] as const;
  const child = spawn(command, args, { stdio: [...stdio] });
  const input = new Socket({ fd: 0, readable: true, writable: false });
  const output = new Socket({ fd: 1, readable: false, writable: true });
  const [toProgram, fromProgram] = child.stdio.slice(3) as [Writable, Readable];
  input.on('data', (chunk) => toProgram.write(chunk));
  fromProgram.on('data', (chunk) => output.write(chunk));
  input.on('close', () => process.exit());
}

async function program(counts: CallCounts): Promise<void> {
  const input = new Socket({ fd: 3, readable: true, writable: false });
  const output = new Socket({ fd: 4, readable: false, writable: true });
  const waiting = new Map<unknown, (value: unknown) => void>();
  let last = 0;
  joinFrames(input, ({ id, value }) => {
    waiting.get(id)?.(value);
    waiting.delete(id);
  });
  input.on('close', () => process.exit());
  const call = async (args: object): Promise<unknown> => {
    last += 1;
    const id = last;
    return await new Promise((resolve) => {
      waiting.set(id, resolve);
      writeFrame(output, { id, name: 'x.echo', args });
    });
  };
  writeFrame(output, { report: await measureCalls(call, counts) });
}
