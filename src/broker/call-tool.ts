import { checkArguments } from './check-arguments.ts';
import { TOOL_JSON_BYTES, refusal, type BrokerReply } from './broker-call.ts';
import { measureJson } from './measure-json.ts';
import { sanitizeErrorText } from './redact.ts';
import { ToolError, type ToolContext, type ToolHandler } from './tool-handler.ts';

/** Options of {@link callTool}. */
export interface CallToolOptions {
  name: string;
  tool: ToolHandler;
  args: unknown;
  context: ToolContext;
  secrets: readonly string[];
  /** Gets the real error of a tool, for the host's log. */
  onToolFailure?: ((name: string, error: unknown) => void) | undefined;
}

/**
 * Runs one tool for a sandbox. The sandbox reads the message of a `ToolError`, sanitised; every other error stays on
 * the host.
 *
 * @returns the tool's value as plain JSON, or a sanitised error; never throws
 */
export async function callTool(options: CallToolOptions): Promise<BrokerReply> {
  const { name, tool, args, context } = options;
  try {
    const checked = await checkArguments(args, tool.parameters);
    if ('fault' in checked) return refusal(`the arguments of ${name} do not fit, got ${checked.fault}`);
    return jsonValue(name, await tool.execute(checked.args, context));
  } catch (error) {
    // The sandbox gets a reply in any case; what happened is the host's to know.
    options.onToolFailure?.(name, error);
    const told = error instanceof ToolError ? error.message : `The tool ${name} failed on the host.`;
    return toolFailure(sanitizeErrorText(told, options.secrets));
  }
}

/** Copies a value through JSON, so that getters and prototypes of the host stay on the host. */
function jsonValue(name: string, value: unknown): BrokerReply {
  const text = JSON.stringify(value) ?? 'null';
  const bytes = Buffer.byteLength(text);
  if (bytes > TOOL_JSON_BYTES) {
    return toolFailure(`The tool ${name} returned ${bytes} bytes of JSON; ${TOOL_JSON_BYTES} are allowed.`);
  }
  const copy: unknown = JSON.parse(text);
  const measured = measureJson(copy, { maxBytes: TOOL_JSON_BYTES });
  return 'fault' in measured
    ? toolFailure(`The tool ${name} returned JSON that cannot be sent: ${measured.fault}.`)
    : { ok: true, value: copy };
}

function toolFailure(message: string): BrokerReply {
  return { ok: false, error: { name: 'ToolError', message } };
}
