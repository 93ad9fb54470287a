import type { CommandSpecification, FlagSpecification } from '../options/flags/command.ts';
import {
  AT_SERVICE_FLAG,
  EVAL_JOB_FLAGS,
  JOB_FLAGS,
  FLEET_FLAGS,
  JSON_FLAG,
  MODEL_FLAGS,
  OFFERED_TOOL_FLAG,
  SCRIPT_FLAGS,
  SERVER_FLAGS,
  SERVICE_FLAGS,
  SKILLS_FLAGS,
} from '../options/flags/flags.ts';
import { SCAN_COMMANDS } from './scan-commands.ts';
import { AUTHORING_COMMANDS } from './authoring-commands.ts';
import { BUDGET_FLAGS } from '../options/flags/budget-flags.ts';
import { LIMIT_SPECIFICATIONS } from '../options/flags/limit-flags.ts';
import { LOCK_COMMANDS } from './lock-commands.ts';
import { ARCHIVE_COMMANDS } from './archive-commands.ts';
import { LIBRARY_COMMANDS } from './library-commands.ts';
import { FLEET_COMMANDS } from './fleet-commands.ts';

const EXEC: CommandSpecification = {
  path: ['exec'],
  summary: 'run code in a sandbox',
  operands: '[FILE|-]',
  maximumOperands: 1,
  flags: [...JOB_FLAGS, AT_SERVICE_FLAG],
  notes: [
    'Without FILE, or with -, the code is read from standard input.',
    'Inside, the working folder holds the files of --file; files that the program writes to $SKILLCELL_OUTPUT come back.',
  ],
  load: async () => (await import('../commands/jobs/run-exec.ts')).runExec,
};

const MAX_ATTEMPTS_FLAG: FlagSpecification = {
  name: 'max-attempts',
  value: 'N',
  summary: 'runs of code, 1 to 20 (default: 3)',
};

const CODEGEN: CommandSpecification = {
  path: ['codegen'],
  summary: 'have a model write code for a task, run it in a sandbox, repair it',
  operands: 'TASK|-',
  minimumOperands: 1,
  maximumOperands: 1,
  flags: [
    ...MODEL_FLAGS,
    MAX_ATTEMPTS_FLAG,
    {
      name: 'select',
      summary: 'let the model choose skills first, and choose between a text answer and code',
    },
    {
      name: 'match',
      value: 'N',
      optionalValue: true,
      summary: 'also carry the skills that TASK calls for by their triggers, at most N (default: 3)',
    },
    { name: 'no-select', summary: 'with --team, which has the model choose skills first: do not' },
    { name: 'dry-run', summary: 'build the prompt inside the sandbox and print it; no model is asked' },
    ...BUDGET_FLAGS,
    {
      name: 'tool-budget-tokens',
      value: 'N',
      summary: 'the most tokens of the prompt for the declarations of the tools (default: 4000)',
    },
    { name: 'value-schema', value: 'FILE', summary: 'a JSON schema of the value that the program has to hand back' },
    ...JOB_FLAGS.map((flag) =>
      flag.name === 'output'
        ? { ...flag, summary: 'where artifacts are written (default: skillcell-out/JOB_ID)' }
        : flag,
    ),
    AT_SERVICE_FLAG,
    {
      name: 'team',
      value: 'NAME',
      summary: 'a team of the service, by name, NAMESPACE/NAME or id: the job has its skills, and chooses among them',
    },
  ],
  notes: [
    'With -, the task is read from standard input.',
    'The last program is shown; each answer of the model and each program is kept beside the artifacts, without --output',
    'in skillcell-out/JOB_ID/.',
  ],
  load: async () => (await import('../commands/jobs/run-codegen.ts')).runCodegen,
};

const MCP: CommandSpecification = {
  path: ['mcp'],
  summary: 'serve MCP clients: sandboxes, sessions and skills as tools and resources',
  flags: SERVER_FLAGS,
  notes: [
    'Without --http it speaks MCP on standard input and output, and ends with its client; logs go to stderr.',
    'Flags of jobs hold for all jobs of all clients: a call can ask for less time, and cannot widen a limit.',
  ],
  load: async () => (await import('../commands/jobs/run-mcp.ts')).runMcp,
};

const SERVE: CommandSpecification = {
  path: ['serve'],
  summary: 'run the service: jobs over HTTP, with users and tokens',
  flags: SERVICE_FLAGS,
  notes: [
    'The first start writes the token of the first admin to DIR/admin-token.',
    'Flags of jobs hold for all jobs: they are what a job gets, and the most that it may ask for.',
    'A job has no network unless it asks for one; --allow-host names the service itself.',
  ],
  load: async () => (await import('../commands/service/run-serve.ts')).runServe,
};

/** Flags of a job that a session takes too. */
const SESSION_FLAG_NAMES: ReadonlySet<string> = new Set([
  ...'language runner isolation fleet-file plain queue file env allow-host secret package network network-log descriptor skills-root'.split(
    ' ',
  ),
  ...'sources consumer mcp tool skill frozen lock json'.split(' '),
  // A session has a clock of its own.
  ...LIMIT_SPECIFICATIONS.map(({ name }) => name).filter((name) => name !== 'job-timeout'),
]);

const REPL: CommandSpecification = {
  path: ['repl'],
  summary: 'run typed or piped code, piece by piece, in a sandbox that stays open',
  flags: [
    { name: 'session-in', value: 'TAR', summary: 'a TAR archive of files to begin with' },
    { name: 'session-out', value: 'TAR', summary: 'where the working folder is written to at the end' },
    ...JOB_FLAGS.filter(({ name }) => SESSION_FLAG_NAMES.has(name)).map((flag) =>
      flag.name === 'language'
        ? { ...flag, summary: `${flag.choices?.join(', ')} (default: javascript)` }
        : flag.name === 'json'
          ? { ...flag, summary: 'print one JSON document at the end: { runs, result }' }
          : flag,
    ),
  ],
  notes: [
    'Definitions of a piece stay for the next ones. Its last expression is shown; an empty line ends an open piece.',
    '.help lists the lines with a dot. Exit code 1 when a piece failed.',
  ],
  load: async () => (await import('../commands/jobs/run-repl.ts')).runRepl,
};

const SKILLS: readonly CommandSpecification[] = [
  {
    path: ['skills', 'list'],
    summary: 'print the catalog that a consumer is shown',
    flags: [
      ...SKILLS_FLAGS,
      {
        name: 'format',
        value: 'NAME',
        choices: ['text', 'xml', 'markdown', 'json'],
        summary: 'text, xml, markdown or json (default: text)',
      },
      OFFERED_TOOL_FLAG,
      { name: 'budget', value: 'TOKENS', summary: 'cut the catalog to this size, entry by entry from the last one' },
      { ...JSON_FLAG, summary: 'the same as --format json' },
    ],
    notes: ['Exit code 1 when no skill is loaded and faults are found.'],
    load: async () => (await import('../commands/skills/run-list.ts')).runList,
  },
  {
    path: ['skills', 'show'],
    summary: 'print one skill with its files, tools and sources',
    operands: 'REF',
    minimumOperands: 1,
    maximumOperands: 1,
    flags: [...SKILLS_FLAGS, JSON_FLAG],
    notes: ['Without --consumer, internal skills are shown as well.'],
    load: async () => (await import('../commands/skills/run-show.ts')).runShow,
  },
  {
    path: ['skills', 'render'],
    summary: 'print the [ACTIVE SKILLS] block for skills and their imports',
    operands: 'REF...',
    minimumOperands: 1,
    maximumOperands: Number.POSITIVE_INFINITY,
    flags: [
      ...SKILLS_FLAGS,
      { name: 'variant', value: 'NAME', choices: ['full', 'compact'], summary: 'full or compact (default: full)' },
      JSON_FLAG,
    ],
    load: async () => (await import('../commands/skills/run-render.ts')).runRender,
  },
  {
    path: ['skills', 'match'],
    summary: 'say which skills a text calls for, and by which triggers',
    operands: 'TEXT',
    minimumOperands: 1,
    maximumOperands: 1,
    flags: [
      ...SKILLS_FLAGS,
      OFFERED_TOOL_FLAG,
      { name: 'max', value: 'N', summary: 'the most skills to name (default: 3)' },
      JSON_FLAG,
    ],
    load: async () => (await import('../commands/skills/run-match.ts')).runMatch,
  },
  {
    path: ['skills', 'validate'],
    summary: 'check skill folders, SKILL.md files, or all skills below a folder',
    operands: 'PATH...',
    minimumOperands: 1,
    maximumOperands: Number.POSITIVE_INFINITY,
    flags: [
      { name: 'strict', summary: 'by the Agent Skills specification, without extensions' },
      {
        name: 'fix',
        summary: 'first make the fixes that have only one form: quotes, hidden characters, the name of file and skill',
      },
      { name: 'dry-run', summary: 'with --fix: list the changes, and write nothing' },
      JSON_FLAG,
    ],
    notes: ['Exit code 1 when a skill is not valid.'],
    load: async () => (await import('../commands/skills/run-validate.ts')).runValidate,
  },
  {
    path: ['skills', 'descriptor'],
    summary: 'print the descriptor that lets another process rebuild these skills',
    flags: [
      ...SKILLS_FLAGS,
      { name: 'portable', summary: 'list every file by digest, and no folder of this machine' },
      { name: 'verify', value: 'FILE', summary: 'compare a portable descriptor with the skills instead' },
      { ...JSON_FLAG, summary: 'errors and the outcome of --verify as JSON' },
    ],
    load: async () => (await import('../commands/skills/run-descriptor.ts')).runDescriptor,
  },
  {
    path: ['skills', 'run'],
    summary: 'run a script that a skill ships',
    operands: 'REF SCRIPT',
    minimumOperands: 2,
    maximumOperands: 2,
    takesRest: true,
    flags: SCRIPT_FLAGS,
    notes: [
      'SCRIPT is a path below the folder of the skill: a file below scripts/, or one that the skill lists under `scripts`.',
      'It runs in place, with $SKILL_DIR as its folder, an empty standard input, at most 60 s, 1 MiB of output and 100 ARGS of',
      '4,096 bytes; files in $OUTPUT_DIR come back. Packages that it requires (PEP 723) have to be installed.',
    ],
    load: async () => (await import('../commands/jobs/run-script.ts')).runScript,
  },
  {
    path: ['skills', 'eval'],
    summary: 'measure the effect of a skill by its evals, run with and without it',
    operands: 'REF',
    minimumOperands: 1,
    maximumOperands: 1,
    flags: [
      { name: 'runs', value: 'N', summary: 'runs of each eval on each side, 1 to 100 (default: 5)' },
      { name: 'aa', summary: 'carry the skill on both sides, to measure how much equal sides differ by chance' },
      { name: 'triggers', value: 'FILE', summary: 'judge its triggers by the queries of a file (JSON)' },
      ...MODEL_FLAGS,
      {
        name: 'out',
        value: 'DIR',
        summary:
          'where each run and the summary are written (default: skillcell-out/eval-ID, and nowhere for a replay)',
      },
      { name: 'seed', value: 'N', summary: 'the seed for the order of the runs (default: 1)' },
      MAX_ATTEMPTS_FLAG,
      // Nothing in an eval calls a tool.
      ...BUDGET_FLAGS.filter(({ name }) => name !== 'budget-tool-calls'),
      ...EVAL_JOB_FLAGS,
    ],
    notes: [
      'The evals are in evals/evals.json of the skill; docs/evals.md has the form. Budgets and limits are those of one run.',
      'With --triggers alone no model is asked, and nothing is run; with --model, --replay, --record, --runs, --aa or --seed',
      'beside it the evals are run as well.',
      'Exit code 1 when runs with the skill are worse than those without it, or nothing could be measured.',
    ],
    load: async () => (await import('../commands/jobs/run-eval.ts')).runEval,
  },
  ...ARCHIVE_COMMANDS,
  ...SCAN_COMMANDS,
  ...AUTHORING_COMMANDS,
];

/** Every command, in the order of the help text. */
export const COMMANDS: readonly CommandSpecification[] = [
  EXEC,
  CODEGEN,
  REPL,
  MCP,
  SERVE,
  ...FLEET_COMMANDS,
  ...SKILLS,
  ...LOCK_COMMANDS,
  ...LIBRARY_COMMANDS,
  {
    path: ['image', 'build'],
    summary: 'build the image of the docker runner',
    flags: [
      {
        name: 'flavor',
        value: 'NAME',
        choices: ['slim', 'data', 'network'],
        summary:
          'slim: interpreters; data: packages for analysis as well; network: curl, git, npm and pip as well (default: slim)',
      },
      { name: 'base', value: 'IMAGE', summary: 'base image (default: the official Node image, else one made here)' },
      JSON_FLAG,
    ],
    notes: ['Where no registry answers, the base is made from Debian packages by mmdebstrap, as root.'],
    load: async () => (await import('../commands/jobs/run-build-image.ts')).runBuildImage,
  },
  {
    path: ['doctor'],
    summary: 'report the isolation levels of this machine, with advice for the missing ones',
    flags: [...FLEET_FLAGS, JSON_FLAG],
    notes: ['Exit code 1 when no isolation is available, or the fleet that is named cannot be used.'],
    load: async () => (await import('../commands/jobs/run-doctor.ts')).runDoctor,
  },
  {
    path: ['sweep'],
    summary: 'remove the leftovers of sandboxes whose processes died',
    flags: [JSON_FLAG],
    load: async () => (await import('../commands/jobs/run-sweep.ts')).runSweep,
  },
];
