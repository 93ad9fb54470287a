import { expect, it } from 'vitest';
import type { ExecutorMessage } from '../../../runtime/run/program/executor-link.ts';
import type { KeptOperation } from '../../../runtime/session/keeper-process.ts';
import { serveCommand, type CommandSurroundings } from '../../../runtime/session/serve-command.ts';

type Told = { type: string; fields?: object };

/** The messages that reach the host if the process of a command, which runs among user code, sends these. */
function toldBy(
  messages: readonly Told[],
  stdin?: number,
): { told: object[]; ended: number; operation: KeptOperation } {
  const told: object[] = [];
  const streams = [11, 12];
  let ended = 0;
  let operation: KeptOperation | undefined;
  const around = {
    channel: { send: (message: object) => void told.push(message), receive: () => undefined },
    layout: { workspace: '/workspace' },
    globals: { JOB: { limits: { totalOutputBytes: 100 } } },
    keeper: {
      begin(_id: number, given: KeptOperation) {
        operation = given;
        return { send: () => undefined, input: {}, over: () => undefined };
      },
      openOutput: () => ({
        number: streams.shift(),
        write: () => Promise.resolve(),
        end: () => Promise.resolve(void (ended += 1)),
      }),
      tell: (message: object) => void told.push(message),
    },
    variables: {},
    watch: () => () => undefined,
  } as unknown as CommandSurroundings;
  const request = { type: 'spawn', id: 5, command: 'true', folder: '.', env: {} } as const;
  serveCommand({ ...request, ...(stdin === undefined ? {} : { stdin }) }, around);
  const begun = operation as unknown as KeptOperation;
  for (const { type, fields = {} } of messages)
    begun.take({ type, fields } as unknown as ExecutorMessage & { fields: Record<string, unknown> });
  return { told, ended, operation: begun };
}

const START = { type: 'spawned', fields: { pid: 7 } };
const SPAWNED = { type: 'spawned', id: 5, pid: 7, stdout: 11, stderr: 12 };
const exit = (fields: object): Told => ({ type: 'exited', fields });
const end = (output: unknown): Told => ({ type: 'output-end', fields: { output } });
const print = (stdout: unknown): Told => ({ type: 'printed', fields: { stdout, stderr: 0 } });
const lost = (error: string): object => ({ type: 'exited', id: 5, code: null, signal: null, error, fault: 'lost' });

it.each<[string, Told[], object[]]>([
  [
    'two starts and two exits',
    [START, START, exit({ code: 3, signal: null }), exit({ code: 4 })],
    [SPAWNED, { type: 'exited', id: 5, code: 3, signal: null }],
  ],
  ['an exit before its start', [exit({ code: 0 }), START], [lost('it has ended before its start')]],
  ['no number', [{ type: 'spawned', fields: { pid: 'x' } }, START], [lost('its process has no number')]],
  [
    'an exit of another form',
    [START, exit({ code: 1.5, signal: 'SIG\u001b[2J' })],
    [SPAWNED, { type: 'exited', id: 5, code: null, signal: null }],
  ],
  ['ends of outputs that it does not have', [end(0), START, end('size'), end('__proto__'), end(7)], [SPAWNED]],
  [
    'its output before its exit, in another form, and twice',
    [START, print(1), exit({ code: 0, signal: null }), print(-1), print('2'), print(3), print(4)],
    [SPAWNED, { type: 'exited', id: 5, code: 0, signal: null }, { type: 'printed', id: 5, stdout: 3, stderr: 0 }],
  ],
  ['an end of input that it does not have', [START, { type: 'unfed', fields: {} }], [SPAWNED]],
])('a process that reports %s breaks no rule of the channel', (_name, messages, expected) => {
  expect(toldBy(messages).told).toEqual(expected);
});

it('the end of the input of a command is told once, at its end at the latest', () => {
  const unfed = { type: 'unfed', fields: { error: 'EPIPE' } };
  const early = toldBy([START, unfed, unfed, exit({ code: 0, signal: null }), end(0), end(1), end(1)], 9);
  expect(early.told.filter((message) => 'type' in message && message.type === 'unfed')).toEqual([
    { type: 'unfed', id: 5, error: 'EPIPE' },
  ]);
  expect(early.ended).toBe(2);
  const late = toldBy([START, exit({ code: 0, signal: null }), end(0), end(1)], 9);
  expect(late.told.at(-1)).toEqual({ type: 'unfed', id: 5, error: 'it has ended' });
});

it('a command with too much output is killed and lost, and its streams end', async () => {
  const { told, operation } = toldBy([START]);
  await operation.takeBytes(0, Buffer.alloc(60));
  await operation.takeBytes(1, Buffer.alloc(60));
  expect(told).toEqual([SPAWNED, { type: 'kill', id: 5, isGentle: false }, lost('it printed more than 100 bytes')]);
});
