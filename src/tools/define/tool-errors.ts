import type { ToolCallCode } from '../../contracts/errors/tool-call-codes.ts';

/**
 * An error with a message for the sandboxed code.
 *
 * @example
 * ```ts
 * import { createOrchestrator, defineTool, ToolError } from 'skillcell';
 *
 * const station = defineTool({
 *   id: 'weather.station',
 *   description: 'Finds a station.',
 *   effect: 'read',
 *   execute: () => Promise.reject(new ToolError('There is no such station.')),
 * });
 * await using orchestrator = createOrchestrator({ tools: [station] });
 * const code = `import { tools } from 'skillcell';
 * await tools.weather.station({}).catch((error) => console.log(error.code, error.message));`;
 * console.log((await orchestrator.exec({ code, tools: ['weather.*'] })).stdout.text.trim());
 * // prints: tool.failed There is no such station.
 * ```
 */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}

/** Options of {@link ToolCallError}. */
export interface ToolCallErrorOptions {
  /** @default 'none' */
  effect?: 'none' | 'unknown';
}

/**
 * A failed call, with a code for the calling program. It is for tools that know the kind of their failure, such as a timeout.
 *
 * @example
 * ```ts
 * import { createOrchestrator, defineTool, ToolCallError } from 'skillcell';
 *
 * const relay = defineTool({
 *   id: 'remote.find',
 *   description: 'Asks a service that may be busy.',
 *   effect: 'read',
 *   execute: () => Promise.reject(new ToolCallError('tool.timeout', 'The service gave no answer in time.')),
 * });
 * await using orchestrator = createOrchestrator({ tools: [relay] });
 * const code = `import { tools } from 'skillcell';
 * await tools.remote.find({}).catch((error) => console.log(error.code));`;
 * console.log((await orchestrator.exec({ code, tools: ['remote.find'] })).stdout.text.trim());
 * // prints: tool.timeout
 * ```
 */
export class ToolCallError extends Error {
  override readonly name = 'ToolCallError';
  readonly code: ToolCallCode;
  /** `unknown` if the call may have had its effect although it failed. Such a call is not repeated. */
  readonly effect: 'none' | 'unknown';

  constructor(code: ToolCallCode, message: string, { effect = 'none' }: ToolCallErrorOptions = {}) {
    super(message);
    this.code = code;
    this.effect = effect;
  }
}
