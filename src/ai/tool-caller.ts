import type { Experimental_ToolCallerTool, Tool, ToolSet } from 'ai';

/**
 * Makes a tool that calls others: with `experimental_toolCallers` the AI SDK hands those to `bind` before each step, and takes what that
 * gives in the place of the tool. It knows such a tool by this one property, so that nothing of the SDK need be loaded here.
 */
export function asToolCaller<Made extends Tool>(
  tool: Made,
  bind: (tools: ToolSet) => Tool,
): Experimental_ToolCallerTool<Made> {
  const definition: Experimental_ToolCallerTool<Made>['experimental_toolCaller'] = { type: 'local', bind };
  // As the SDK's own function does: a copy of the tool is none that calls others.
  const caller = Object.defineProperty({ ...tool }, 'experimental_toolCaller', { value: definition });
  return caller as Experimental_ToolCallerTool<Made>;
}
