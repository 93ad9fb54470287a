import type { CommandSpecification } from '../options/flags/command.ts';
import { JSON_FLAG } from '../options/flags/flags.ts';

/** Commands about where skills come from. */
export const LIBRARY_COMMANDS: readonly CommandSpecification[] = [
  {
    path: ['skills', 'sources'],
    summary: 'list the folders for skills of the user and of this project, and say which are read',
    flags: [JSON_FLAG],
    notes: ['`--sources` of other commands chooses among them; of two skills with one id the later source wins.'],
    load: async () => (await import('../commands/library/run-sources.ts')).runSources,
  },
  {
    path: ['skills', 'trust'],
    summary: 'trust the skills of a project as they are now',
    operands: '[DIR]',
    maximumOperands: 1,
    flags: [
      { name: 'follow', summary: 'trust later changes of these folders too' },
      { name: 'list', summary: 'only say which projects are trusted' },
      JSON_FLAG,
    ],
    notes: ['DIR defaults to this folder. Without --follow, a changed byte of a skill ends the trust.'],
    load: async () => (await import('../commands/library/run-trust.ts')).runTrust,
  },
  {
    path: ['skills', 'untrust'],
    summary: 'stop trusting the skills of a project',
    operands: '[DIR]',
    maximumOperands: 1,
    flags: [JSON_FLAG],
    notes: ['DIR defaults to this folder. Exit code 1 when it was not trusted.'],
    load: async () => (await import('../commands/library/run-trust.ts')).runUntrust,
  },
];
