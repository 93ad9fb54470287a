import type { ContentBlock, ToolAnnotations } from '@modelcontextprotocol/server';
import type * as z from 'zod/mini';
import type { CallProgress } from './call-progress.ts';

/** The context of one call of a tool. */
export interface ToolCall {
  /** Aborts when the client cancels the call, or is gone. */
  signal: AbortSignal;
  progress: CallProgress;
}

/** The answer to a call. */
export interface ToolAnswer {
  /** The structured result. */
  value: Record<string, unknown>;
  /** Content beside it: links to larger parts, and images. */
  content?: ContentBlock[];
  /** Whether the work failed, such as a program. */
  failed?: boolean;
}

/** A tool that the server offers to its clients. */
export interface ServerTool<Input = unknown> {
  name: string;
  title: string;
  description: string;
  /** A strict schema. */
  input: z.core.$ZodType<Input>;
  /** Schema of an answer; refusals have a form of their own. */
  output: z.core.$ZodType;
  annotations: ToolAnnotations;
  /** Whether it frees room for other calls: such a call is still admitted when others are refused. */
  givesRoom?: boolean;
  run(input: Input, call: ToolCall): Promise<ToolAnswer>;
}

/** Types a tool by its schema, which checks the arguments before each run. */
export function serverTool<Input>(tool: ServerTool<Input>): ServerTool {
  return tool;
}
