import type { CommandSpecification, FlagSpecification } from '../options/flags/command.ts';
import { JSON_FLAG } from '../options/flags/flags.ts';

const outputFlag = (value: string, summary: string): FlagSpecification => ({
  name: 'output',
  short: 'o',
  value,
  summary,
});

/** Skills in one file. */
export const ARCHIVE_COMMANDS: readonly CommandSpecification[] = [
  {
    path: ['skills', 'pack'],
    summary: 'pack the folder of a skill into one file',
    operands: 'DIR',
    minimumOperands: 1,
    maximumOperands: 1,
    flags: [
      outputFlag('FILE', 'a new .skill or .zip file (default: DIR.skill, here)'),
      { name: 'store', summary: 'do not compress, so that the same files give the same bytes everywhere' },
      JSON_FLAG,
    ],
    notes: [
      'Links and the files of systems and tools (.git, node_modules, .env …) are left out and listed.',
      'Existing files are never overwritten.',
    ],
    load: async () => (await import('../commands/library/run-pack.ts')).runPack,
  },
  {
    path: ['skills', 'unpack'],
    summary: 'unpack the skill of a .zip, .skill or .tar.gz file',
    operands: 'FILE',
    minimumOperands: 1,
    maximumOperands: 1,
    flags: [outputFlag('DIR', "a new folder (default: the skill's name, here)"), JSON_FLAG],
    notes: [
      'At most 10 MiB, 50 MiB unpacked, 500 entries. A refused archive and a killed run leave nothing behind.',
      'Existing folders are never overwritten.',
    ],
    load: async () => (await import('../commands/library/run-unpack.ts')).runUnpack,
  },
  {
    path: ['skills', 'push'],
    summary: 'upload a skill to a service, as the next version if it has one of this name',
    operands: 'DIR|ZIP',
    minimumOperands: 1,
    maximumOperands: 1,
    flags: [
      { name: 'server', value: 'URL', summary: 'the service; the token is in SKILLCELL_TOKEN' },
      { name: 'public', summary: 'for all users; needs the token of an admin' },
      { name: 'name', value: 'NAME', summary: 'name of the skill there (default: that of its folder)' },
      JSON_FLAG,
    ],
    notes: ['Unchanged files make no new version. The findings of a scan and the changed files are listed.'],
    load: async () => (await import('../commands/library/run-push.ts')).runPush,
  },
];
