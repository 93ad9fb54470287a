import { type SkillHit, type SkillSearch, searchSkills } from '../../../library/search/search-skills.ts';
import type { SearchedField } from '../../../library/search/searched-fields.ts';
import { defaultCacheFolder } from '../../../durable/user-folders.ts';
import { type CommandContext, flagValue } from '../../options/flags/command.ts';
import { parseNumber } from '../../options/flags/parse-number.ts';
import { noteDiagnostics, openSkills } from '../../options/skills/skills-context.ts';
import { escapeLine } from '../../terminal/escape-controls.ts';

const MOST = { minimum: 1, maximum: 1_000, unit: 'skills' };

/** `skillcell skills search`: exit code 1 when nothing is found. */
export async function runSearch(context: CommandContext): Promise<number> {
  const { arguments: given, io, output, json, interruption } = context;
  const most = flagValue(given, 'max');
  const max = most === undefined ? undefined : parseNumber('--max', most, MOST);
  const { subsystem, consumer, tools } = await openSkills(context, 'none');
  const cacheFolder = defaultCacheFolder(io.env);
  const options = { consumer, tools, max, cacheFolder, signal: interruption.signal };
  const search = await searchSkills(subsystem, given.operands[0] ?? '', options);
  if (json) await output.json(search);
  else {
    await noteDiagnostics(context, search.diagnostics);
    for (const hit of search.hits) await output.text(describe(hit));
    await output.note(summaryOf(search));
  }
  return search.hits.length === 0 ? 1 : 0;
}

/** Field names for people. */
const FIELD_NAMES: Readonly<Record<SearchedField, string>> = {
  id: 'id',
  description: 'description',
  whenToUse: 'when to use',
  headings: 'headings',
  body: 'body',
};

function describe({ id, score, brief, matches, snippet }: SkillHit): string {
  const found = matches.map(({ field, words }) => `${FIELD_NAMES[field]}: ${words.join(', ')}`).join(' · ');
  const place =
    snippet === null ? '' : `${FIELD_NAMES[snippet.field]}${snippet.line === undefined ? '' : `:${snippet.line}`}`;
  const lines = [
    `${id}  ${score}  ${brief}`,
    `  ${found}`,
    // The first line shows the id already.
    ...(snippet === null || snippet.field === 'id' ? [] : [`  ${place} | ${snippet.text}`]),
  ];
  return `${lines.map(escapeLine).join('\n')}\n`;
}

function summaryOf({ hits, found, searched, words, ignored }: SkillSearch): string {
  if (words.length === 0 && ignored === 0) return `The text holds no word, so none of ${searched} skills was searched.`;
  const counted = words.map(({ word, skills }) => `${word} (${skills})`).join(', ');
  const of = words.length === 0 ? 'no skill holds a word of it' : `words, and skills that hold them: ${counted}`;
  const without = ignored === 0 ? '' : `; ${ignored} words did not count`;
  return `${hits.length} of ${found} found among ${searched} skills; ${of}${without}.`;
}
