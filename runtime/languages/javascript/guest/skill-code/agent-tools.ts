/** The module `@agent/tools` that toolsets of skills import. */

/** Definition of a tool of a toolset. */
export interface ToolInit {
  description?: string;
  /** A zod schema or a JSON schema. */
  parameters?: unknown;
  execute(args: unknown, context: unknown): unknown;
}

/** A tool of a toolset. */
export interface DefinedTool {
  id: string;
  init: ToolInit | (() => ToolInit | Promise<ToolInit>);
}

/** Defines tools, like the templates of toolsets do. */
export const Tool = {
  define: (id: string, init: DefinedTool['init']): DefinedTool => ({ id, init }),
};

const defaults: { Tool: typeof Tool } = { Tool };
export default defaults;
