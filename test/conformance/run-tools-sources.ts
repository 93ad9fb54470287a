import { readSourcesFile } from '../../src/skills/parse/sources-file.ts';
import { readToolsFile } from '../../src/skills/parse/tools-file.ts';
import { contentBytes } from './content-bytes.ts';
import type { Content } from './content-bytes.ts';
import { sortedCodes } from './sorted-codes.ts';

/** Reads one tools.yaml or sources.yaml. */
export function runToolsSources(input: unknown): Record<string, unknown> {
  const { file, content } = input as { file: 'tools.yaml' | 'sources.yaml'; content: Content };
  const bytes = contentBytes(content);
  const { rows, diagnostics } = file === 'tools.yaml' ? readToolsFile(bytes) : readSourcesFile(bytes);
  return { rows, codes: sortedCodes(diagnostics) };
}
