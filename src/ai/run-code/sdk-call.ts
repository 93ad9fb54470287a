import type { ToolExecutionOptions, ToolSet } from 'ai';
import type { SdkCall } from '../../tools/define/sdk-tools.ts';
import type { ToolSchema } from '../../tools/schema/schema-source.ts';
import { compileToolSchema } from '../../tools/schema/compile-tool-schema.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';

/** The fields that the AI SDK passes to a called tool; other versions may pass more or fewer. */
type Execution = Pick<ToolExecutionOptions<unknown>, 'toolCallId' | 'messages' | 'context' | 'experimental_sandbox'>;

/**
 * The call that runs a program, for the tools of the program. They get the context of `run_code`, since the SDK shows a tool only its own.
 * A context that does not fit the schema of a tool would reach that tool unchecked, so it is refused here.
 *
 * @throws SkillcellError `options.invalid`
 */
export async function sdkCall(
  { toolCallId, messages, context, experimental_sandbox: sandbox }: Execution,
  tools: ToolSet,
): Promise<SdkCall> {
  const contexts = new Map<string, unknown>();
  for (const [name, { contextSchema }] of Object.entries(tools)) {
    if (contextSchema === undefined) continue;
    const { check } = await compileToolSchema(contextSchema as ToolSchema, { subject: `the context of ${name}` });
    const checked = await check(context);
    if ('fault' in checked) throw unfit(name, checked.fault);
    contexts.set(name, checked.value);
  }
  return {
    toolCallId,
    messages,
    sandbox,
    contextOf: (name) => (contexts.has(name) ? contexts.get(name) : context),
  };
}

function unfit(name: string, fault: string): SkillcellError {
  const message = `Cannot run code: toolsContext.run_code does not fit the context of ${name}: ${fault}.`;
  const hint = 'Give run_code, by toolsContext, a context that fits all tools that its programs call.';
  return new SkillcellError('options.invalid', message, { hint });
}
