import type { Diagnostic } from '../../../contracts/errors/diagnostic.ts';
import { libraryDiagnostic } from '../../../contracts/errors/library-diagnostic.ts';
import { JsonRefused, parseBoundedJson } from '../../../protocol/channel/bounded-json.ts';
import type { SourceFiles } from './source-files.ts';

/** JSON of a source, or the reason why it cannot be read. */
export type SourceJson = { value: unknown; diagnostic?: undefined } | { diagnostic: Diagnostic };

/**
 * Reads a JSON file of a source. Its content is untrusted.
 *
 * @param maxBytes larger files are not read
 */
export async function readSourceJson(
  files: SourceFiles,
  { path, bytes }: { path: string; bytes: number },
  maxBytes: number,
): Promise<SourceJson> {
  const refused = (reason: string): SourceJson => ({
    diagnostic: libraryDiagnostic('source.manifest', `The file cannot be read: ${reason}.`, { path }),
  });
  if (bytes > maxBytes) return refused(`over ${maxBytes} bytes, got ${bytes}`);
  const content = await files.read(path, maxBytes);
  try {
    return { value: parseBoundedJson(withoutMark(content), { maxBytes, maxDepth: 32 }) };
  } catch (error) {
    if (error instanceof JsonRefused) return refused(error.message);
    throw error;
  }
}

/** Editors on some systems put a byte order mark before the text. */
function withoutMark(content: Uint8Array): Uint8Array {
  return content[0] === 0xef && content[1] === 0xbb && content[2] === 0xbf ? content.subarray(3) : content;
}
