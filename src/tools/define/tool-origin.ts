import type { Tool } from './tool.ts';

/** Where a tool says whence it comes. It stays on a copy that a caller makes to change a field. */
const ORIGIN: unique symbol = Symbol('origin');

/** A tool with a note of whence it comes, which messages about it name. */
export function withOrigin(tool: Tool, origin: string): Tool {
  return { ...tool, [ORIGIN]: origin } as Tool;
}

/** Whence a tool comes; undefined for one of the host's own. */
export function toolOrigin(tool: Tool): string | undefined {
  return (tool as { [ORIGIN]?: string })[ORIGIN];
}
