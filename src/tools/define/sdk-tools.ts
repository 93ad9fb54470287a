import type { ToolSchema } from '../schema/schema-source.ts';
import type { Tool } from './tool.ts';

/** A tool of the AI SDK, as its `tool()` makes it. */
export interface SdkTool {
  /** A text. One that depends on a context is left out: here is none yet. */
  readonly description?: unknown;
  readonly inputSchema: unknown;
  readonly outputSchema?: unknown;
  /** Whether somebody has to allow its calls. One that decides by the call has each of them allowed. */
  readonly needsApproval?: unknown;
  // The SDK's own types change with its versions.
  execute?: ((input: never, options: never) => unknown) | undefined;
}

/** Tools of the AI SDK, by their names. */
export type SdkTools = Readonly<Record<string, SdkTool>>;

/** The call of the AI SDK's own, within which tools are called. */
export interface SdkCall {
  /** Its id; calls within it are numbered. */
  readonly toolCallId: string;
  readonly messages: readonly unknown[];
  /** What a tool gets as its context, by its name. */
  contextOf(name: string): unknown;
  readonly sandbox: unknown;
}

/** Whether a value is a record of tools of the AI SDK. */
export function isSdkTools(value: unknown): value is SdkTools {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Map) return false;
  return Object.values(value).every(
    (tool: unknown) => typeof tool === 'object' && tool !== null && 'inputSchema' in tool,
  );
}

/** The name of a tool that this process cannot execute: the SDK leaves such a one to its caller, or to the model's service. */
export function unexecutable(tools: SdkTools): string | undefined {
  return Object.keys(tools).find((name) => typeof tools[name]?.execute !== 'function');
}

/**
 * Tools of the AI SDK as ours. Whether their calls have an effect is not known, so that each counts as one that has.
 *
 * @param within the call of the SDK's that is under way, where there is one
 */
export function fromSdkTools(tools: SdkTools, within: () => SdkCall | undefined = () => undefined): Tool[] {
  /** Each call of the SDK's has an id of its own, which tools take for a key. */
  let calls = 0;
  return Object.entries(tools).map(([id, tool]) => ({
    id,
    description: typeof tool.description === 'string' ? tool.description : '',
    input: tool.inputSchema as ToolSchema,
    ...(tool.outputSchema === undefined ? {} : { output: tool.outputSchema as ToolSchema }),
    approval: tool.needsApproval === undefined || tool.needsApproval === false ? 'never' : 'always',
    async execute(input, { signal, jobId, context: ofJob }) {
      const call = within();
      const context = call === undefined ? ofJob : call.contextOf(id);
      const options = {
        toolCallId: `${call?.toolCallId ?? jobId}:${(calls += 1)}`,
        messages: call?.messages ?? [],
        abortSignal: signal,
        context,
        experimental_context: context,
        ...(call?.sandbox === undefined ? {} : { experimental_sandbox: call.sandbox }),
      };
      return await lastOf(tool.execute?.(input as never, options as never));
    },
  }));
}

/** A tool that gives preliminary results gives its last one. */
async function lastOf(given: unknown): Promise<unknown> {
  if (typeof given !== 'object' || given === null || !(Symbol.asyncIterator in given)) return await given;
  let last: unknown;
  for await (const value of given as AsyncIterable<unknown>) last = value;
  return last;
}
