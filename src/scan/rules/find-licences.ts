import type { FoundInFile } from '../scan-finding.ts';
import type { ScannedFile } from '../scanned-file.ts';

const LICENCE_FILE = /^(?:licen[cs]e|copying|copyright|notice|terms|eula|legal)(?:[-_. ].*)?$/;
/** Phrases that permit copying. If one is present, the rest of the licence only adds conditions. */
const GRANTS =
  /permission is hereby granted|redistribution and use in source|(?:licensed|available|released|distributed) under (?:the )?(?:terms of (?:the )?)?(?:apache|mit|bsd|gnu|mozilla|isc|creative commons|cc)|apache license,? version 2|gnu (?:lesser |affero )?general public license|mozilla public license|creative commons|public domain|permission to use,? copy/;
const KEEPS =
  /all rights reserved|proprietary|confidential|unlicensed|no licen[cs]e (?:is )?granted|not (?:for|to be) (?:redistribut|cop)/;
/** Words that forbid, before the verb. */
const FORBIDS = /(?:may|must|shall|can) ?not /g;
const COPYING =
  /(?:^| )(?:cop(?:y|ied)|reproduced?|distributed?|redistributed?|modif(?:y|ied)|extract(?:ed)?|shared?)\b/;
/** Most characters between the word that forbids and the verb. */
const CLAUSE = 200;
const FIELD_KEEPS =
  /proprietary|all rights reserved|unlicensed|confidential|commercial|no[ -]?licen[cs]e|\bnone\b|by-nd|by-nc-nd|source[ -]available/;

/** Finds licences that forbid copying the skill: in licence files, and in the frontmatter. */
export function findLicences(file: ScannedFile): FoundInFile[] {
  const { name, isText, isSkillFile } = file;
  const { text: folded, offsetOf } = file.folded;
  if (isSkillFile) {
    const at = fieldAt(file.text.slice(0, file.frontMatter.end));
    if (at < 0) return [];
    const newline = file.text.indexOf('\n', at);
    if (!FIELD_KEEPS.test(file.text.slice(at, newline < 0 ? undefined : newline).toLowerCase())) return [];
    return [{ code: 'scan.licence', message: 'The licence of the skill keeps rights that are needed to copy it.', at }];
  }
  if (!isText || !LICENCE_FILE.test(name)) return [];
  const text = folded.replaceAll('\n', ' ');
  if (GRANTS.test(text)) return [];
  const at = keepsAt(text);
  return at < 0
    ? []
    : [{ code: 'scan.licence', message: 'This licence forbids copying, or keeps all rights.', at: offsetOf(at) }];
}

/** Offset of the line with the field `license` in the frontmatter, or -1. */
function fieldAt(block: string): number {
  return Math.max(...['\nlicense:', '\nlicence:'].map((field) => block.indexOf(field) + 1)) || -1;
}

function keepsAt(text: string): number {
  const forbidden = [...text.matchAll(FORBIDS)].find(({ index, 0: word }) =>
    COPYING.test(text.slice(index + word.length, index + word.length + CLAUSE).split('.', 1)[0] ?? ''),
  );
  const found = [text.search(KEEPS), forbidden?.index ?? -1].filter((at) => at >= 0);
  return found.length === 0 ? -1 : Math.min(...found);
}
