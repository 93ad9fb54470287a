import type { ContentBlock, ToolAnnotations } from '@modelcontextprotocol/server';
import type * as z from 'zod/mini';
import type { CallProgress } from './call-progress.ts';

/** What one call of a tool has beside its arguments. */
export interface ToolCall {
  /** Aborts when the client cancels the call, or is gone. */
  signal: AbortSignal;
  progress: CallProgress;
}

/** What a call comes to. */
export interface ToolAnswer {
  /** The structured result. */
  value: Record<string, unknown>;
  /** What is shown beside it: links to what is too large for it, and images. */
  content?: ContentBlock[];
  /** Whether what was asked for went wrong, such as a program that failed. */
  failed?: boolean;
}

/** A tool that the server offers to its clients. */
export interface ServerTool<Input = unknown> {
  name: string;
  title: string;
  description: string;
  /** Strict. */
  input: z.core.$ZodType<Input>;
  /** Of what a call that came to something gives; refusals have a form of their own. */
  output: z.core.$ZodType;
  annotations: ToolAnnotations;
  /** Whether it ends what others wait for: such a call is let in where others are not any more. */
  givesRoom?: boolean;
  run(input: Input, call: ToolCall): Promise<ToolAnswer>;
}

/** A tool whose arguments its own schema has checked when it runs. */
export function serverTool<Input>(tool: ServerTool<Input>): ServerTool {
  return tool;
}
