import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { SandboxRefusal } from '../../jobs/session/sandbox-refusal.ts';
import { printablePath } from '../../protocol/files/shown-path.ts';

/** Turns a refusal of the sandbox into an error of ours; others stay as they are. Its reason is text of hostile code. */
export function asOurs(error: unknown, action: string, got: string): unknown {
  if (!(error instanceof SandboxRefusal)) return error;
  const reason = printablePath(error.message.slice(0, 300));
  const code = error.fault === 'lost' ? 'sandbox.lost' : 'file.unreadable';
  return new SkillcellError(code, `Cannot ${action}: ${reason}, got ${JSON.stringify(got)}.`);
}
