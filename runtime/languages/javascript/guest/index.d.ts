/** Calls a tool of the host. Rejects when the call is refused or fails. */
export function callTool(name: string, args?: Record<string, unknown>): Promise<unknown>;
/** Sets the job's value: anything with a JSON form, at most 256 KiB of it. */
export function setValue(value: unknown): void;
/** Reads a file of one of the job's skills, as text, or as bytes when encoding is null. */
export function readSkillFile(skill: string, path: string, encoding?: BufferEncoding): string;
export function readSkillFile(skill: string, path: string, encoding: null): Buffer;
