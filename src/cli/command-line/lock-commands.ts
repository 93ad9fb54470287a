import type { CommandSpecification, FlagSpecification } from '../options/flags/command.ts';
import { JSON_FLAG } from '../options/flags/flags.ts';

const PLACE_FLAGS: readonly FlagSpecification[] = [
  { name: 'user', summary: 'the skills of this user, in ~/.agents/skills (default: those of the project)' },
  { name: 'lock', value: 'FILE', summary: 'the lock file (default: skillcell.lock.json in this folder)' },
];

/** Every command that opens a source takes this flag. */
const CREDENTIAL_FLAG: FlagSpecification = {
  name: 'credential',
  value: 'ORIGIN=VARIABLE',
  repeatable: true,
  summary: 'the environment variable with the token for private git repositories of ORIGIN, such as https://github.com',
};

const FORCE_FLAG: FlagSpecification = { name: 'force', summary: 'replace or remove locally changed files too' };

/** Commands that pin skills by their bytes. */
export const LOCK_COMMANDS: readonly CommandSpecification[] = [
  {
    path: ['skills', 'add'],
    summary: 'take skills from a source, write and lock them',
    operands: 'SOURCE[#REF][:FOLDER]',
    minimumOperands: 1,
    maximumOperands: 1,
    flags: [
      { name: 'skill', value: 'NAME', repeatable: true, summary: 'a skill to take, by id or folder (default: all)' },
      { name: 'list', summary: 'only list the skills of the source, and those that are not taken' },
      { name: 'nested', summary: 'also take skills that lie below another skill' },
      { name: 'into', value: 'DIR', summary: 'the folder of skills (default: .agents/skills)' },
      CREDENTIAL_FLAG,
      ...PLACE_FLAGS,
      FORCE_FLAG,
      JSON_FLAG,
    ],
    notes: [
      'SOURCE is a folder, an archive, OWNER/REPO of GitHub, an https address of a git repository, a host (https://HOST),',
      's3://BUCKET/PREFIX or mcp:URL. A path with #REF is a repository of git.',
      'With --into outside this folder, the lock file is in that folder.',
    ],
    load: async () => (await import('../commands/library/run-add.ts')).runAdd,
  },
  {
    path: ['skills', 'install'],
    summary: 'restore the locked skills, byte by byte',
    flags: [
      { name: 'frozen', summary: 'fail if a skill is not approved' },
      CREDENTIAL_FLAG,
      ...PLACE_FLAGS,
      { name: 'force', summary: 'also drop added files, and folders that are no copy of the skill' },
      JSON_FLAG,
    ],
    notes: [
      'Changed files are replaced and listed; added files stop the command. Without a lock file, skills-lock.json is read and locked.',
    ],
    load: async () => (await import('../commands/library/run-install.ts')).runInstall,
  },
  {
    path: ['skills', 'update'],
    summary: 'compare skills with their sources, and take the changes',
    operands: '[REF...]',
    maximumOperands: Number.POSITIVE_INFINITY,
    flags: [
      { name: 'dry-run', summary: 'only print the difference' },
      CREDENTIAL_FLAG,
      ...PLACE_FLAGS,
      FORCE_FLAG,
      JSON_FLAG,
    ],
    notes: ['Changed skills are no longer approved. Exit code 1 when a source no longer has a skill.'],
    load: async () => (await import('../commands/library/run-update.ts')).runUpdate,
  },
  {
    path: ['skills', 'remove'],
    summary: 'remove skills with their folders',
    operands: 'REF...',
    minimumOperands: 1,
    maximumOperands: Number.POSITIVE_INFINITY,
    flags: [...PLACE_FLAGS, FORCE_FLAG, JSON_FLAG],
    load: async () => (await import('../commands/library/run-remove.ts')).runRemove,
  },
  {
    path: ['skills', 'verify'],
    summary: 'compare skills with the lock file, and list each file that differs',
    operands: '[REF...]',
    maximumOperands: Number.POSITIVE_INFINITY,
    flags: [...PLACE_FLAGS, JSON_FLAG],
    notes: ['Exit code 1 when a file was changed, added or is missing.'],
    load: async () => (await import('../commands/library/run-verify.ts')).runVerify,
  },
  {
    path: ['skills', 'approve'],
    summary: 'record that a person has reviewed skills, for --frozen',
    operands: '[REF...]',
    maximumOperands: Number.POSITIVE_INFINITY,
    flags: [
      { name: 'as', value: 'WHO', summary: 'the name of the reviewer' },
      { name: 'builtin', summary: 'approve every skill of the package' },
      ...PLACE_FLAGS,
      JSON_FLAG,
    ],
    notes: [
      'An approval holds for these bytes only. A skill of the package, such as public.chart,',
      'is locked by its approval; another version of the package may have other bytes.',
    ],
    load: async () => (await import('../commands/library/run-approve.ts')).runApprove,
  },
];
