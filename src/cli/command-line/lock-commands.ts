import type { CommandSpecification, FlagSpecification } from '../options/flags/command.ts';
import { JSON_FLAG } from '../options/flags/flags.ts';

const PLACE_FLAGS: readonly FlagSpecification[] = [
  { name: 'user', summary: 'the skills of this user, in ~/.agents/skills (default: those of the project)' },
  { name: 'lock', value: 'FILE', summary: 'the lock file (default: skillcell.lock.json in this folder)' },
];

/** Every command that opens a source takes it. */
const CREDENTIAL_FLAG: FlagSpecification = {
  name: 'credential',
  value: 'ORIGIN=VARIABLE',
  repeatable: true,
  summary: 'the environment variable with the token for private git repositories of ORIGIN, such as https://github.com',
};

const FORCE_FLAG: FlagSpecification = { name: 'force', summary: 'replace also what somebody has changed' };

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
      { name: 'list', summary: 'only say what the source holds, and what of it is not taken' },
      { name: 'nested', summary: 'take also what lies below another skill' },
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
    summary: 'bring back what is locked, byte by byte',
    flags: [
      { name: 'frozen', summary: 'refuse where a skill is not approved' },
      CREDENTIAL_FLAG,
      ...PLACE_FLAGS,
      { name: 'force', summary: 'drop also files that were added, and what is no copy of the skill' },
      JSON_FLAG,
    ],
    notes: [
      'What was changed since is replaced, and named; where files were added, nothing is. Without a lock file, skills-lock.json is read and locked.',
    ],
    load: async () => (await import('../commands/library/run-install.ts')).runInstall,
  },
  {
    path: ['skills', 'update'],
    summary: 'say what sources have now, and take it',
    operands: '[REF...]',
    maximumOperands: Number.POSITIVE_INFINITY,
    flags: [
      { name: 'dry-run', summary: 'only print the difference' },
      CREDENTIAL_FLAG,
      ...PLACE_FLAGS,
      FORCE_FLAG,
      JSON_FLAG,
    ],
    notes: ['What changes is no longer approved. Exit code 1 when a source has a skill no more.'],
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
    summary: 'compare skills with what is locked, and name each file that differs',
    operands: '[REF...]',
    maximumOperands: Number.POSITIVE_INFINITY,
    flags: [...PLACE_FLAGS, JSON_FLAG],
    notes: ['Exit code 1 when a file was changed, added or is missing.'],
    load: async () => (await import('../commands/library/run-verify.ts')).runVerify,
  },
  {
    path: ['skills', 'approve'],
    summary: 'write down that somebody has looked at skills, for --frozen',
    operands: '[REF...]',
    maximumOperands: Number.POSITIVE_INFINITY,
    flags: [
      { name: 'as', value: 'WHO', summary: 'who has looked' },
      { name: 'builtin', summary: 'approve every skill of the package' },
      ...PLACE_FLAGS,
      JSON_FLAG,
    ],
    notes: [
      'It holds for these bytes: a changed one is not approved. A skill of the package, such as public.chart,',
      'is locked by its approval; another version of the package may have other bytes.',
    ],
    load: async () => (await import('../commands/library/run-approve.ts')).runApprove,
  },
];
