import type { SandboxMessage } from '../../src/protocol/messages/messages.ts';
import type { SessionFault, SessionRequest } from '../../src/protocol/messages/session-messages.ts';
import type { JobSurroundings } from '../run/job-surroundings.ts';
import type { KeeperProcess, PassedOutput } from './keeper-process.ts';

/** A command of a session. */
type CommandRequest = SessionRequest & { type: 'spawn' };

/** The parts of a session that its commands need. */
export interface CommandSurroundings extends Pick<JobSurroundings, 'channel' | 'layout' | 'globals'> {
  keeper: KeeperProcess;
  /** Variables of every program. */
  variables: Record<string, string>;
  /** Watches the limits of the workspace, where no file system holds them. Returns a function that stops it. */
  watch(onOver: (limit: string) => void): () => void;
}

type Exit = Omit<SandboxMessage & { type: 'exited' }, 'type' | 'id'>;

const MOST_ERROR_CHARACTERS = 500;
const MOST_PID = 2 ** 22;
const MOST_CODE = 255;

/**
 * Starts a command in the keeper's process, and passes its outputs, its exit and its input on. The process runs among user code: messages in
 * another order than the host expects do not reach the host.
 */
export function serveCommand({ id, command, folder, env, stdin }: CommandRequest, around: CommandSurroundings): void {
  const { channel, keeper, layout, globals } = around;
  const { totalOutputBytes } = globals.JOB.limits;
  /** Its outputs, until they are over. */
  const outputs = new Map<number, PassedOutput>();
  let isStarted = false;
  let hasExited = false;
  let hasPrinted = false;
  let isFed = stdin !== undefined;
  let bytes = 0;
  let release = (): void => undefined;

  const send = (message: SandboxMessage): void => channel.send(message);
  const endInput = (error?: string): void => {
    if (!isFed) return;
    isFed = false;
    send({ type: 'unfed', id, ...(error === undefined ? {} : { error }) });
  };
  const settle = (): void => {
    if (!hasExited || outputs.size > 0) return;
    endInput('it has ended');
    release();
  };
  const exit = (how: Exit): void => {
    if (hasExited) return;
    hasExited = true;
    send({ type: 'exited', id, ...how });
    settle();
  };
  const endOutput = (output: number): void => {
    void outputs.get(output)?.end();
    outputs.delete(output);
    settle();
  };
  const fail = (error: string, fault?: SessionFault): void => {
    exit({ code: null, signal: null, error, ...(fault === undefined ? {} : { fault }) });
    for (const output of outputs.keys()) endOutput(output);
  };
  const lose = (error: string): void => fail(error, 'lost');
  const stop = (error: string): void => {
    keeper.tell({ type: 'kill', id, isGentle: false });
    lose(error);
  };
  const begin = (pid: unknown): void => {
    if (isStarted || hasExited) return;
    if (!isWhole(pid, 1, MOST_PID)) return lose('its process has no number');
    isStarted = true;
    const [stdout, stderr] = [keeper.openOutput(), keeper.openOutput()];
    outputs.set(0, stdout).set(1, stderr);
    send({ type: 'spawned', id, pid, stdout: stdout.number, stderr: stderr.number });
  };
  const end = ({ code, signal, error }: Record<string, unknown>): void => {
    if (error !== undefined) return fail(shortText(error));
    if (!isStarted) return lose('it has ended before its start');
    exit({ code: isWhole(code, 0, MOST_CODE) ? code : null, signal: signalName(signal) });
  };
  const print = ({ stdout, stderr }: Record<string, unknown>): void => {
    // After the ends of both outputs, the host knows this itself.
    if (!hasExited || hasPrinted || outputs.size === 0) return;
    if (!isCount(stdout) || !isCount(stderr)) return;
    hasPrinted = true;
    send({ type: 'printed', id, stdout, stderr });
  };

  const begun = keeper.begin(id, {
    async takeBytes(output, chunk) {
      bytes += chunk.length;
      if (bytes > totalOutputBytes) stop(`it printed more than ${totalOutputBytes} bytes`);
      else await outputs.get(output)?.write(chunk);
    },
    take({ type, fields }) {
      if (type === 'spawned') begin(fields['pid']);
      else if (type === 'unfed') endInput(shortText(fields['error']));
      else if (type === 'exited') end(fields);
      else if (type === 'output-end' && isStarted) endOutput(fields['output'] as number);
      else if (type === 'printed') print(fields);
    },
    lose,
  });
  const stopWatch = around.watch((limit) => stop(`it exceeded the limit ${limit}`));
  release = () => {
    stopWatch();
    begun.over();
  };
  settle();
  if (stdin !== undefined)
    channel.receive(stdin, {
      data: (chunk) => (isFed ? begun.input.data(chunk) : undefined),
      end() {
        if (isFed) begun.input.end();
        endInput();
      },
    });
  begun.send({
    ...{ type: 'spawn', id, command, folder, isFed },
    workspace: layout.workspace,
    env: { ...around.variables, ...env },
  });
}

function signalName(signal: unknown): string | null {
  return typeof signal === 'string' && /^SIG[A-Z0-9]{1,12}$/.test(signal) ? signal : null;
}

function isWhole(value: unknown, least: number, most: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;
}

function isCount(value: unknown): value is number {
  return isWhole(value, 0, Number.MAX_SAFE_INTEGER);
}

function shortText(value: unknown): string {
  return String(value).slice(0, MOST_ERROR_CHARACTERS);
}
