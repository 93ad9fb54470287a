/** An expression that `recheck` does not call linear, and how long a text it gets all the same. */
export interface ExpressionException {
  file: string;
  /** A part of it as it is written, by which it is known; empty for all of the file. */
  part: string;
  /** The most characters of a text that it sees. `test/scripts/expressions.test.ts` tries it at so many. */
  bound: number;
  /** What keeps the text so short, or the time in bounds. */
  reason: string;
}

const MIB = 1024 * 1024;
const FRONT_MATTER = 'it reads frontmatter, which is refused above 16 KiB';
const KERNEL = 'it reads a file of the kernel, and the part that is not known is the name of a field';

/** Each is tried at its bound, with texts on which one that goes back would take minutes. */
export const EXPRESSION_EXCEPTIONS: readonly ExpressionException[] = [
  { file: 'src/skills/text/first-sentence.ts', part: '', bound: 16_384, reason: FRONT_MATTER },
  { file: 'src/skills/match/asks-for-skills.ts', part: '', bound: 200, reason: 'a longer query asks for nothing' },
  { file: 'src/scan/rules/override-phrases.ts', part: '', bound: 300, reason: 'it sees twelve words of 24 letters' },
  { file: 'src/scan/rules/find-licences.ts', part: 'cop(?:y|ied)', bound: 200, reason: 'it sees 200 characters' },
  {
    file: 'src/broker/tool-schema/json-schema/formats.ts',
    part: 'LABEL',
    bound: 320,
    reason: 'longer names are refused before',
  },
  {
    file: 'src/broker/tool-schema/json-schema/formats.ts',
    part: '^P(?!$)',
    bound: MIB,
    reason: 'each run of digits ends in another letter',
  },
  { file: 'src/protocol/control-group-usage.ts', part: '', bound: 65_536, reason: KERNEL },
  { file: 'runtime/sandbox/group-memory.ts', part: '', bound: 65_536, reason: KERNEL },
  { file: 'runtime/sandbox/process-table.ts', part: '', bound: 65_536, reason: KERNEL },
  { file: 'src/cli/repl/is-open.ts', part: '', bound: 16_384, reason: 'it reads a piece that somebody types' },
  {
    file: 'src/cli/options/expand-variables.ts',
    part: '',
    bound: 16_384,
    reason: 'it reads one text of a file of MCP servers that the user names',
  },
  {
    file: 'src/broker/redact.ts',
    part: '',
    bound: MIB,
    reason: 'it reads one line of an error; what it begins with ends at the first character that it does not take',
  },
  {
    file: 'src/scan/rules/find-look-alikes.ts',
    part: 'CONFUSABLE',
    bound: MIB,
    reason: 'it is one class of characters',
  },
];
