import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { printablePath } from '../../protocol/files/shown-path.ts';

/** What the sandbox says is wrong with an operation. */
export class GuestRefusal extends Error {
  /** Of the system, such as `ENOENT`; empty where there is none. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Whether something is not there, or cannot be, since what stands on the way to it is no folder. */
export function isMissing(error: unknown): boolean {
  return error instanceof GuestRefusal && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}

/** A refusal as an error of ours; others stay as they are. What is said of it are words of hostile code. */
export function asOurs(error: unknown, action: string, got: string): unknown {
  if (!(error instanceof GuestRefusal)) return error;
  const reason = printablePath(error.message.slice(0, 300));
  return new SkillcellError('file.unreadable', `Cannot ${action}: ${reason}, got ${JSON.stringify(got)}.`);
}
