import { ToolError } from '../broker/tool-errors.ts';
import { SkillcellError } from '../contracts/skillcell-error.ts';

/**
 * An error as the model and the agent's log read it: of all that an error holds the AI SDK hands on the message alone, so that the
 * code stands in it as well.
 */
export function withCode(error: unknown): unknown {
  const ours = error instanceof ToolError ? asOurs(error) : error;
  if (!SkillcellError.isInstance(ours)) return error;
  const { code, message, hint, diagnostics } = ours;
  return new SkillcellError(code, `${message} (${code})`, { cause: ours, hint, diagnostics });
}

/** What the tools of skills say is about a reference, or about a file of a skill. */
function asOurs({ message, cause }: ToolError): SkillcellError {
  return SkillcellError.isInstance(cause) ? cause : new SkillcellError('skills.reference-unknown', message);
}
