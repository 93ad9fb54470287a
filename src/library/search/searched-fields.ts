import type { Skill } from '../../contracts/skills/skill.ts';
import { findFencedBlocks } from '../../skills/text/words/markdown-fences.ts';

/** The searched fields of a skill, in the order of the index's columns. */
export const SEARCHED_FIELDS = ['id', 'description', 'whenToUse', 'headings', 'body'] as const;

/** A searched field of a skill. */
export type SearchedField = (typeof SEARCHED_FIELDS)[number];

/** Weight of a word in each field, relative to the body. */
export const FIELD_WEIGHTS: Readonly<Record<SearchedField, number>> = {
  id: 8,
  description: 4,
  whenToUse: 4,
  headings: 2,
  body: 1,
};

/** The searched texts of a skill. Headings are also part of the body, where they have their places. */
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

/** Headings of a Markdown text (`# …`), without lines of code that look like headings. */
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
