import type { CommandSpecification } from '../options/command.ts';
import { JSON_FLAG, OFFERED_TOOL_FLAG, SKILLS_FLAGS } from '../options/flags.ts';

/** Commands that find skills, and those for whoever writes them. */
export const AUTHORING_COMMANDS: readonly CommandSpecification[] = [
  {
    path: ['skills', 'search'],
    summary: 'find skills by words of their ids, descriptions, headings and bodies',
    operands: 'TEXT',
    minimumOperands: 1,
    maximumOperands: 1,
    flags: [
      ...SKILLS_FLAGS,
      OFFERED_TOOL_FLAG,
      { name: 'max', value: 'N', summary: 'the most skills to name, 1 to 1000 (default: 10)' },
      JSON_FLAG,
    ],
    notes: [
      'TEXT is words and nothing but words: no quote, star or AND means anything. Exit code 1 when nothing is found.',
      'The index is kept in $XDG_CACHE_HOME/skillcell (default: ~/.cache/skillcell).',
    ],
    load: async () => (await import('../commands/run-search.ts')).runSearch,
  },
];
