import { ToolCallError } from '../define/tool-errors.ts';
import type { Tool } from '../define/tool.ts';

/** Counts a call of a tool. @throws ToolCallError `tool.limit` if the job has used up its calls */
export type AdmitCall = (tool: Pick<Tool, 'id' | 'maxCalls'>) => void;

/** Limits each tool to its own number of calls in one job. */
export function countToolCalls(): AdmitCall {
  const callsOf = new Map<string, number>();
  return ({ id, maxCalls = Infinity }) => {
    const made = (callsOf.get(id) ?? 0) + 1;
    callsOf.set(id, made);
    if (made > maxCalls) throw new ToolCallError('tool.limit', `The job may call ${id} ${maxCalls} times.`);
  };
}
