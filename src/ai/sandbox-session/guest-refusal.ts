import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { printablePath } from '../../protocol/files/shown-path.ts';

/** The fault of an operation, as the sandbox reports it. */
export class GuestRefusal extends Error {
  /** Code of the system, such as `ENOENT`; empty without a code. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Whether a file does not exist, or cannot, since a part of its path is no folder. */
export function isMissing(error: unknown): boolean {
  return error instanceof GuestRefusal && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}

/** Turns a refusal into an error of ours; others stay as they are. Its reason is text of hostile code. */
export function asOurs(error: unknown, action: string, got: string): unknown {
  if (!(error instanceof GuestRefusal)) return error;
  const reason = printablePath(error.message.slice(0, 300));
  return new SkillcellError('file.unreadable', `Cannot ${action}: ${reason}, got ${JSON.stringify(got)}.`);
}
