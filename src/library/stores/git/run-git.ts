import { startGit } from './start-git.ts';

/** A command of git that is run to its end. */
export interface GitCommand {
  program: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  timeoutMs: number;
  /** Bytes that it may print. */
  outputBytes: number;
  /** Bytes of the largest file that it may write. */
  fileBytes: number;
  signal: AbortSignal | undefined;
}

/** How a command went wrong. */
export class GitFailure extends Error {
  readonly reason: 'failed' | 'time' | 'output';
  /** The end of what it wrote to its standard error. */
  readonly words: string;

  constructor(reason: GitFailure['reason'], words: string) {
    super(`git ${reason}: ${words}`);
    this.name = 'GitFailure';
    this.reason = reason;
    this.words = words;
  }
}

const LAST_WORDS = 4_000;

/**
 * Runs a command of git, and gives what it prints. Nothing of it is left when this settles.
 *
 * @throws GitFailure; the signal's reason
 */
export async function runGit({ signal, timeoutMs, outputBytes, ...command }: GitCommand): Promise<Buffer> {
  signal?.throwIfAborted();
  const git = startGit(command.program, command.args, command.env, command.fileBytes);
  git.stdin.end();
  let words = '';
  git.stderr.setEncoding('utf8').on('data', (piece: string) => {
    words = (words + piece).slice(-LAST_WORDS);
  });
  let stopped: GitFailure['reason'] | undefined;
  const stop = (reason: GitFailure['reason']): void => {
    stopped ??= reason;
    git.kill();
  };
  const pieces: Buffer[] = [];
  let bytes = 0;
  git.stdout.on('data', (piece: Buffer) => {
    bytes += piece.length;
    if (bytes > outputBytes) stop('output');
    else pieces.push(piece);
  });
  const timer = setTimeout(stop, timeoutMs, 'time');
  signal?.addEventListener('abort', git.kill);
  try {
    const code = await git.ended;
    signal?.throwIfAborted();
    if (stopped !== undefined || code !== 0) throw new GitFailure(stopped ?? 'failed', words);
    return Buffer.concat(pieces);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', git.kill);
  }
}
