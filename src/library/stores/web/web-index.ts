import type { Diagnostic } from '../../../contracts/errors/diagnostic.ts';
import { libraryDiagnostic } from '../../../contracts/errors/library-diagnostic.ts';
import { quotedText } from '../../../contracts/text/quoted-text.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { JsonRefused, parseBoundedJson } from '../../../protocol/channel/bounded-json.ts';
import { type WebEntry, webEntry, type WebIndexVersion } from './web-entry.ts';

/** The list of a web site. */
export interface WebIndex {
  entries: WebEntry[];
  diagnostics: Diagnostic[];
}

/** Limit of a list, in bytes. */
export const INDEX_BYTES: number = 4 * 1024 * 1024;
const INDEX_CAPS = { maxBytes: INDEX_BYTES, maxDepth: 16, maxValues: 200_000 };
const MAX_ENTRIES = 5_000;
const SCHEMA = 'https://schemas.agentskills.io/discovery/0.2.0/schema.json';

/**
 * Reads the list of skills of a web site (Agent Skills Discovery, 0.2.0 and 0.1.0). Invalid entries are left out and reported.
 *
 * @param base address of the list
 * @throws SkillcellError `source.refused` for any other content
 */
export function parseWebIndex(bytes: Uint8Array, version: WebIndexVersion, base: URL): WebIndex {
  const shown = `${base.origin}${base.pathname}`;
  const refuse = (reason: string): never => {
    throw new SkillcellError('source.refused', `Cannot read the list of skills: ${reason}, got ${shown}.`);
  };
  const index = parse(bytes, refuse);
  if (typeof index !== 'object' || index === null || !('skills' in index) || !Array.isArray(index.skills))
    return refuse('it has no list `skills`');
  const schema = '$schema' in index ? index.$schema : undefined;
  if (version === '0.2.0' && schema !== SCHEMA)
    return refuse(`its $schema is not ${SCHEMA} (${typeof schema === 'string' ? quotedText(schema) : 'none'})`);
  if (index.skills.length > MAX_ENTRIES) return refuse(`it has more than ${MAX_ENTRIES} entries`);

  const entries = new Map<string, WebEntry>();
  const diagnostics: Diagnostic[] = [];
  for (const [at, given] of index.skills.entries()) {
    const entry = webEntry(given, version, base);
    const path = `skills/${at}`;
    if (typeof entry === 'string')
      diagnostics.push(libraryDiagnostic('index.entry', `An entry of ${shown} is left out: ${entry}.`, { path }));
    else if (entries.has(entry.name))
      diagnostics.push(
        libraryDiagnostic('index.duplicate', `A second entry of ${shown} has the name ${entry.name}.`, { path }),
      );
    else entries.set(entry.name, entry);
  }
  if (version === '0.1.0' && entries.size > 0)
    diagnostics.push(libraryDiagnostic('index.no-digest', `${shown} lists skills without their digests.`));
  return { entries: [...entries.values()], diagnostics };
}

function parse(bytes: Uint8Array, refuse: (reason: string) => never): unknown {
  try {
    return parseBoundedJson(bytes, INDEX_CAPS);
  } catch (error) {
    if (!(error instanceof JsonRefused)) throw error;
    // Messages of the parser may repeat parts of the text.
    return refuse(
      error.cause instanceof SyntaxError ? 'it is no valid JSON, or has a key that is not allowed' : error.message,
    );
  }
}
