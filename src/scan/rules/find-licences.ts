import type { FoundInFile } from '../scan-finding.ts';
import type { ScannedFile } from '../scanned-file.ts';

const LICENCE_FILE = /^(?:licen[cs]e|copying|copyright|notice|terms|eula|legal)(?:[-_. ].*)?$/;
/** What gives leave to copy; where it stands, the rest are conditions. */
const GRANTS =
  /permission\s+is\s+hereby\s+granted|redistribution\s+and\s+use\s+in\s+source|(?:licensed|available|released|distributed)\s+under\s+(?:the\s+)?(?:terms\s+of\s+(?:the\s+)?)?(?:apache|mit|bsd|gnu|mozilla|isc|creative\s+commons|cc)|apache\s+license\s+version\s+2|gnu\s+(?:\w+\s+)?general\s+public\s+license|mozilla\s+public\s+license|creative\s+commons|public\s+domain|permission\s+to\s+use,?\s+copy/;
const KEEPS =
  /all\s+rights\s+reserved|\bproprietary\b|\bconfidential\b|(?:may|must|shall|can)\s+not\s+(?:be\s+)?(?:\w+,?\s+(?:or\s+|and\s+)?){0,3}(?:cop(?:y|ied)|reproduced?|distributed?|redistributed?|modif(?:y|ied)|extract(?:ed)?|shared?|retain(?:ed)?)\b|no\s+(?:part|permission)\s+(?:of\s+)?(?:\w+\s+){0,6}(?:cop(?:y|ied)|reproduced|granted)|\bunlicensed\b|no\s+licen[cs]e\s+(?:is\s+)?granted|not\s+(?:for|to\s+be)\s+(?:redistribut|cop)\w+/g;
const FIELD = /^licen[cs]e[ \t]{0,8}:[ \t]{0,8}([^\n]{1,500})/m;
const FIELD_KEEPS =
  /proprietary|all\s+rights\s+reserved|unlicensed|confidential|commercial|no[ -]?licen[cs]e|\bnone\b|(?:cc-)?by(?:-nc)?-nd|source[ -]available/;

/** Finds licences under which the skill may not be copied: in files of licences, and in the frontmatter. */
export function findLicences({
  name,
  folded: { text, offsetOf },
  isText,
  frontMatter,
  isSkillFile,
}: ScannedFile): FoundInFile[] {
  if (isSkillFile) {
    const field = FIELD.exec(text.slice(0, frontMatter.end));
    if (field === null || !FIELD_KEEPS.test(field[1] ?? '')) return [];
    return [
      {
        code: 'scan.licence',
        message: 'The licence of the skill keeps rights that are needed to copy it.',
        at: offsetOf(field.index),
      },
    ];
  }
  if (!isText || !LICENCE_FILE.test(name) || GRANTS.test(text)) return [];
  const [first] = text.matchAll(KEEPS);
  if (first === undefined) return [];
  return [
    { code: 'scan.licence', message: 'This licence forbids copying, or keeps all rights.', at: offsetOf(first.index) },
  ];
}
