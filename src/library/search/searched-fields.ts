import type { Skill } from '../../contracts/skill.ts';

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
const FENCE = /^ {0,3}(`{3,}|~{3,})/;

/** Headings of a Markdown text (`# …`), but for lines of code that look like one. */
function headingsOf(body: string): string {
  const headings: string[] = [];
  let fence: string | undefined;
  for (const line of body.split('\n')) {
    const [, mark] = FENCE.exec(line) ?? [];
    if (mark !== undefined && (fence === undefined || mark.startsWith(fence))) {
      fence = fence === undefined ? mark : undefined;
      continue;
    }
    if (fence === undefined && HEADING.test(line)) headings.push(line);
  }
  return headings.join('\n');
}
