import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const THINGS = ['table', 'chart', 'link', 'date', 'unit', 'map', 'quote', 'invoice', 'ledger', 'survey', 'contract'];
const ACTIONS = ['convert', 'summarise', 'render', 'draw', 'extract', 'compare', 'translate', 'check'];
const FORMATS = ['csv', 'pdf', 'docx', 'xlsx', 'html', 'svg', 'json'];
/** One in this many skills has a pattern without a word. */
const WORDLESS = 50;

const SENTENCES = [
  'Please take the quarterly report in reports/q3.pdf and have a look at its tables.',
  'The column "amount" holds EUR and USD mixed, so convert everything to one unit first, with the rates of 2024-06-30.',
  'Some of the invoices were scanned; where a date is missing, leave the cell empty and list the page at the end.',
  'Then draw a chart of the totals by month and compare it with the ledger of last year, as we did for the survey.',
  'The contract with the supplier (see contract-412.docx) says which prices hold; quote the paragraph when they differ.',
  'Finally summarise what you found in half a page, in plain words, and check every link that you put into it.',
];

/** The patterns of one generated skill. `salt` makes them differ from the patterns of another run. */
export function triggerPatterns(number: number, salt = ''): string[] {
  const [thing, action, format] = [pick(THINGS, number), pick(ACTIONS, number), pick(FORMATS, number)];
  const own = `${salt}${number}`;
  return [
    `${action}(?:s|ing)?\\s+\\w+\\s+${thing}s? of kind ${own}`,
    `\\b${thing}[-_ ]?${own}\\b`,
    `(?:from|to|into)\\s+(?:a\\s+)?${format}${own}`,
    number % WORDLESS === 0 ? `\\b\\d{2,4}[/:]\\d{2}[/:]\\d{${1 + (number % 7)}}\\b` : `\\w+-${own}\\.${format}\\b`,
    `^.*\\bpart\\s+\\d+\\s+of\\s+(?:the\\s+)?${thing} ${own}`,
  ];
}

/** Tasks of about a kilobyte; each matches three of the skills. */
export function triggerTexts(salt = ''): string[] {
  return [7, 130, 400, 761].map((first) => {
    const asked = [first, first + 111, first + 222].map((number) => {
      const own = `${salt}${number}`;
      return `Use ${pick(THINGS, number)} ${own}, and put it into ${pick(FORMATS, number)}${own}.`;
    });
    return [...SENTENCES, ...asked, ...SENTENCES.slice(0, first % 4)].join(' ');
  });
}

/** Writes skills with keywords, verbs and five patterns each. */
export async function writeTriggerSkills(root: string, count: number, salt = ''): Promise<void> {
  for (let number = 0; number < count; number += 1) {
    const [thing, action] = [pick(THINGS, number), pick(ACTIONS, number)];
    const triggers = {
      keywords: [`${thing} ${number}`, `${thing}-kit`, `kind ${number}`],
      verbs: [`${action}${number}`, 'tabulate'],
      patterns: triggerPatterns(number, salt),
    };
    const name = `${thing}-${number}`;
    await mkdir(join(root, name), { recursive: true });
    await writeFile(
      join(root, name, 'SKILL.md'),
      `---\nname: ${name}\ndescription: Prepares ${thing}s of kind ${number}.\ntriggers: ${JSON.stringify(triggers)}\n---\n\n# ${name}\n`,
    );
  }
}

function pick(list: readonly string[], number: number): string {
  return list[number % list.length] ?? '';
}
