import type { Tool } from './tool.ts';

/** Key of a tool's origin. It is enumerable, so a copy with a changed field keeps it. */
const ORIGIN: unique symbol = Symbol('origin');

/** Adds the origin to a tool, for messages about it. */
export function withOrigin(tool: Tool, origin: string): Tool {
  return { ...tool, [ORIGIN]: origin } as Tool;
}

/** Origin of a tool; undefined for a tool of the host. */
export function toolOrigin(tool: Tool): string | undefined {
  return (tool as { [ORIGIN]?: string })[ORIGIN];
}
