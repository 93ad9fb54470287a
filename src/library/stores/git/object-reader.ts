import { startGit } from './start-git.ts';
import { gitEnvironment } from './git-environment.ts';
import { COMMAND_MS } from './git-limits.ts';

/** An object of a repository. */
export interface GitObject {
  /** Its full id. */
  id: string;
  type: string;
  content: Buffer;
}

/** Reads objects of a repository through one process, which ends when idle. */
export interface ObjectReader {
  /**
   * @param name an id, or another name without a blank or a newline
   * @param limit bytes; a larger object is dropped and the read fails
   * @throws Error where there is no such object, it is too large, or git ends
   */
  read(name: string, limit: number): Promise<GitObject>;
  close(): void;
}

interface Waiting {
  name: string;
  limit: number;
  resolve(object: GitObject): void;
  reject(error: Error): void;
}

const IDLE_MS = 1_000;
const NEWLINE = 0x0a;

/** Opens a repository for reading. The process starts with the first read. */
export function openObjectReader(program: string, repository: string): ObjectReader {
  let current: { ask(waiting: Waiting): void; end(): void } | undefined;
  return {
    read: async (name, limit) =>
      await new Promise((resolve, reject) => {
        current ??= startReading(program, repository, () => {
          current = undefined;
        });
        current.ask({ name, limit, resolve, reject });
      }),
    close() {
      current?.end();
      current = undefined;
    },
  };
}

function startReading(
  program: string,
  repository: string,
  onEnd: () => void,
): { ask(waiting: Waiting): void; end(): void } {
  const args = [`--git-dir=${repository}`, 'cat-file', '--batch'];
  const git = startGit(program, args, gitEnvironment({}), 0);
  const waiting: Waiting[] = [];
  const answers = new AnswerCutter(waiting);
  let timer: NodeJS.Timeout | undefined;
  let hasEnded = false;

  const end = (): void => {
    clearTimeout(timer);
    git.kill();
    if (hasEnded) return;
    hasEnded = true;
    onEnd();
    for (const { reject, name } of waiting.splice(0)) reject(new Error(`git did not answer for ${name}`));
  };
  /** With reads pending, git has a deadline for its answer; without them, it ends when idle. */
  const watch = (): void => {
    clearTimeout(timer);
    timer = setTimeout(end, waiting.length > 0 ? COMMAND_MS : IDLE_MS);
    if (waiting.length === 0) timer.unref();
    git.hold(waiting.length > 0);
  };
  git.stderr.resume();
  git.ended.then(end, end);
  git.stdout.on('data', (piece: Buffer) => {
    if (answers.take(piece)) watch();
    else end();
  });
  return {
    ask(next) {
      waiting.push(next);
      git.stdin.write(`${next.name}\n`);
      watch();
    },
    end,
  };
}

/** Cuts the output of git into the requested objects, in the order of the requests. */
class AnswerCutter {
  readonly #waiting: Waiting[];
  #header: Buffer[] = [];
  #object: { id: string; type: string; pieces: Buffer[]; left: number; tooLarge: boolean } | undefined;

  constructor(waiting: Waiting[]) {
    this.#waiting = waiting;
  }

  /** False for output that is not a valid answer. */
  take(piece: Buffer): boolean {
    let offset = 0;
    while (offset < piece.length) {
      if (this.#object !== undefined) {
        offset += this.#content(piece.subarray(offset));
        continue;
      }
      const newline = piece.indexOf(NEWLINE, offset);
      this.#header.push(piece.subarray(offset, newline < 0 ? piece.length : newline));
      if (newline < 0) break;
      offset = newline + 1;
      if (!this.#begin(Buffer.concat(this.#header).toString('latin1'))) return false;
      this.#header = [];
    }
    return true;
  }

  #begin(header: string): boolean {
    const [next] = this.#waiting;
    const match = /^([0-9a-f]{40,64}) ([a-z]{1,10}) (\d{1,15})$/.exec(header);
    if (next === undefined) return false;
    if (match === null) {
      // "missing", "ambiguous" and the like are answers without content.
      this.#waiting.shift();
      next.reject(new Error(`there is no such object: ${next.name}`));
      return true;
    }
    const [, id = '', type = '', size = ''] = match;
    // A newline follows the content.
    this.#object = { id, type, pieces: [], left: Number(size) + 1, tooLarge: Number(size) > next.limit };
    return true;
  }

  #content(rest: Buffer): number {
    const object = this.#object;
    if (object === undefined) return 0;
    const taken = rest.subarray(0, object.left);
    object.left -= taken.length;
    if (!object.tooLarge) object.pieces.push(taken);
    if (object.left > 0) return taken.length;
    this.#object = undefined;
    const next = this.#waiting.shift();
    const { id, type } = object;
    if (object.tooLarge) next?.reject(new Error(`the object has over ${next.limit} bytes: ${next.name}`));
    else next?.resolve({ id, type, content: Buffer.concat(object.pieces).subarray(0, -1) });
    return taken.length;
  }
}
