import type { Skill } from '../../contracts/skills/skill.ts';
import { findFencedBlocks } from '../../skills/text/words/markdown-fences.ts';

/** What of a skill is searched, in the order of the index's columns. */
export const SEARCHED_FIELDS = ['id', 'description', 'whenToUse', 'headings', 'body'] as const;

/** A part of a skill that is searched. */
export type SearchedField = (typeof SEARCHED_FIELDS)[number];

/** How much more a word says in this place than in a body. */
export const FIELD_WEIGHTS: Readonly<Record<SearchedField, number>> = {
  id: 8,
  description: 4,
  whenToUse: 4,
  headings: 2,
  body: 1,
};

/** The texts of a skill that are searched. Headings are searched as part of the body, too: there they have their places. */
export function searchedTexts({ skillId, name, fields, body }: Skill): Record<SearchedField, string> {
  return {
    id: name === skillId ? skillId : `${skillId}\n${name}`,
    description: fields.description ?? '',
    whenToUse: (fields.whenToUse ?? []).join('\n'),
    headings: headingsOf(body),
    body,
  };
}

const HEADING = /^ {0,3}#{1,6}[ \t]+\S/;

/** Headings of a Markdown text (`# …`), but for lines of code that look like one. */
function headingsOf(body: string): string {
  let at = 0;
  const prose = findFencedBlocks(body).map(({ start, end }) => {
    const before = body.slice(at, start);
    at = end;
    return before;
  });
  const lines = [...prose, body.slice(at)].flatMap((part) => part.split('\n'));
  return lines.filter((line) => HEADING.test(line)).join('\n');
}
