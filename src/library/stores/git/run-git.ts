import { startGit } from './start-git.ts';

/** A git command that runs to its end. */
export interface GitCommand {
  program: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  timeoutMs: number;
  /** Limit of its output. */
  outputBytes: number;
  /** Limit of the largest file that it may write. */
  fileBytes: number;
  signal: AbortSignal | undefined;
}

/** The failure of a command. */
export class GitFailure extends Error {
  readonly reason: 'failed' | 'time' | 'output';
  /** The end of its standard error. */
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
 * Runs a git command and returns its output. No process of it is left when the promise settles.
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
