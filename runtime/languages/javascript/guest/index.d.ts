/** A call that returned no value. `code` names the reason: a code listed in docs/errors.md. */
export class ToolCallError extends Error {
  readonly code: string;
}
/** A tool, or the names on the way to it. */
export interface ToolPath {
  (args?: unknown): Promise<unknown>;
  readonly [name: string]: ToolPath;
}
/** The job's tools: `await tools.crm.find({ … })`. Bytes in arguments and results are `Uint8Array`s. */
export const tools: {
  call(id: string, args?: unknown): Promise<unknown>;
} & { readonly [name: string]: ToolPath };
/** Calls a tool of the host by its id. */
export function callTool(id: string, args?: unknown): Promise<unknown>;
/** Sets the job's value: anything with a JSON form, by default at most 256 KiB of it. */
export function setValue(value: unknown): void;
/** Shows a value as a result of the run: as the given media type, or in the forms that the value offers. Only in a session. */
export function display(value: unknown, mediaType?: string): void;
/** Reads a file of one of the job's skills, as text, or as bytes when encoding is null. */
export function readSkillFile(skill: string, path: string, encoding?: BufferEncoding): string;
export function readSkillFile(skill: string, path: string, encoding: null): Buffer;
