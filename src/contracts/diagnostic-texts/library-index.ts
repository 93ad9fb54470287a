import type { DiagnosticText } from '../diagnostic-severities.ts';

/** What is found in the lists of skills that web sites and MCP servers have. */
export const INDEX_TEXTS: Readonly<Record<'index.entry' | 'index.duplicate' | 'index.no-digest', DiagnosticText>> = {
  'index.entry': {
    meaning: 'an entry of the list of skills is not as its format says, or names no digest, and is left out',
    advice: 'Tell whoever publishes the skills; docs/web-sources.md has what an entry needs.',
  },
  'index.duplicate': {
    meaning: 'two entries of the list of skills have one name; the first one stays',
    advice: 'Tell whoever publishes the skills.',
  },
  'index.no-digest': {
    meaning: 'the list of skills is of an older version, whose entries have no digests',
    advice: 'What was read is locked by its own digest; only the list cannot say whether it is what was meant.',
  },
};
