import type { ToolSchema } from '../schema/schema-source.ts';
import type { Tool } from './tool.ts';

/** A tool of the AI SDK, as made by its `tool()`. */
export interface SdkTool {
  /** A text. A description that depends on a context is left out, because there is no context yet. */
  readonly description?: unknown;
  readonly inputSchema: unknown;
  readonly outputSchema?: unknown;
  /** Whether its calls need approval. A function that decides for each call counts as true. */
  readonly needsApproval?: unknown;
  // Typed loosely, because the SDK's own types change between versions.
  execute?: ((input: never, options: never) => unknown) | undefined;
}

/** Tools of the AI SDK, by their names. */
export type SdkTools = Readonly<Record<string, SdkTool>>;

/** The AI SDK's own call, within which tools are called. */
export interface SdkCall {
  /** Its id; calls within it are numbered. */
  readonly toolCallId: string;
  readonly messages: readonly unknown[];
  /** Context of a tool, by its name. */
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

/** Name of a tool that this process cannot execute: the SDK leaves such tools to its caller or to the model's service. */
export function unexecutable(tools: SdkTools): string | undefined {
  return Object.keys(tools).find((name) => typeof tools[name]?.execute !== 'function');
}

/**
 * Converts tools of the AI SDK. Their effects are unknown, so every call counts as one with an effect.
 *
 * @param within the running call of the SDK, if there is one
 */
export function fromSdkTools(tools: SdkTools, within: () => SdkCall | undefined = () => undefined): Tool[] {
  /** Number of calls: tools use the ids of the SDK's calls as keys, so each id must be unique. */
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

/** Returns the last result of a tool that yields preliminary results. */
async function lastOf(given: unknown): Promise<unknown> {
  if (typeof given !== 'object' || given === null || !(Symbol.asyncIterator in given)) return await given;
  let last: unknown;
  for await (const value of given as AsyncIterable<unknown>) last = value;
  return last;
}
