import { ISOLATION_LEVELS } from '../../../contracts/jobs/result.ts';
import { languageNames } from '../../../languages/languages.ts';
import type { FlagSpecification } from './command.ts';
import { LIMIT_SPECIFICATIONS, MODEL_TIMEOUT_FLAGS } from './limit-flags.ts';

/** Prints JSON. */
export const JSON_FLAG: FlagSpecification = {
  name: 'json',
  summary: 'print one JSON document on stdout and nothing else there',
};

/** The bundle's descriptor, for every command that loads skills. */
const DESCRIPTOR_FLAG: FlagSpecification = {
  name: 'descriptor',
  value: 'FILE',
  summary: "the bundle's skills descriptor (JSON); its relative roots start at the folder of FILE",
};

/** Flags that restrict the skills to load. */
const FROZEN_FLAGS: readonly FlagSpecification[] = [
  { name: 'frozen', summary: 'load only skills whose bytes are locked and approved' },
  { name: 'lock', value: 'FILE', summary: 'the lock file of --frozen (default: skillcell.lock.json in this folder)' },
];

const CONSUMER_FLAG: FlagSpecification = {
  name: 'consumer',
  value: 'ID',
  summary: 'the consumer whose policy in the descriptor applies',
};

/** Sources of skills beside the descriptor, for every command that loads skills. */
const SOURCES_FLAG: FlagSpecification = {
  name: 'sources',
  value: 'LIST',
  summary: 'builtin, user and project, with commas between (default: builtin); see `skillcell skills sources`',
};

/** Flags of commands that load skills. */
export const SKILLS_FLAGS: readonly FlagSpecification[] = [
  { name: 'root', value: 'DIR', summary: 'the built-in skills (default: those of this package)' },
  SOURCES_FLAG,
  DESCRIPTOR_FLAG,
  CONSUMER_FLAG,
  ...FROZEN_FLAGS,
];

/** The offered tools, for commands that list skills. */
export const OFFERED_TOOL_FLAG: FlagSpecification = {
  name: 'tool',
  value: 'ID',
  repeatable: true,
  summary: 'a tool that is offered: skills that require others are left out (default: unknown, no skill is left out)',
};

/** Names MCP servers whose tools jobs may have. */
export const MCP_FLAG: FlagSpecification = {
  name: 'mcp',
  value: 'FILE',
  summary: 'MCP servers (JSON, as { "mcpServers": { "ALIAS": … } }), whose tools --tool then names, such as ALIAS.*',
};

/** The network of jobs; without these flags they have none. */
const NETWORK_FLAGS: readonly FlagSpecification[] = [
  {
    name: 'allow-host',
    value: 'RULE',
    repeatable: true,
    summary: 'a place that the program may reach, such as api.example.com or "GET,HEAD *.example.com/v1/**"',
  },
  {
    name: 'secret',
    value: 'NAME=HOST[,HOST]',
    repeatable: true,
    summary:
      'a secret for requests to these hosts; its value is that of the environment variable NAME, and the program sees a placeholder',
  },
  {
    name: 'package',
    value: 'REGISTRY:NAME',
    repeatable: true,
    summary: 'a package that is installed before the program, such as npm:is-odd@3 or pypi:tinypkg==1.0',
  },
  {
    name: 'network',
    value: 'FILE',
    summary: 'hosts, secrets and certificates as JSON; the program may use all of them',
  },
  { name: 'network-log', value: 'FILE', summary: 'add a line of JSON for each request to this file' },
];

/** The Redis of a fleet. Its address may hold a password, so it is never an argument. */
export const FLEET_ADDRESS_FLAGS: readonly FlagSpecification[] = [
  {
    name: 'fleet-file',
    value: 'FILE',
    summary: 'the address of the Redis of a fleet, in a file that only its owner can read (default: SKILLCELL_FLEET)',
  },
  { name: 'plain', summary: 'allow a fleet on another host without TLS' },
];

/** The fleet that jobs may use. */
export const FLEET_FLAGS: readonly FlagSpecification[] = [
  ...FLEET_ADDRESS_FLAGS,
  {
    name: 'queue',
    value: 'NAME',
    summary: 'the queue of the fleet whose workers run the sandboxes (default: default)',
  },
];

/** Flags of commands that run a job. */
export const JOB_FLAGS: readonly FlagSpecification[] = [
  {
    name: 'language',
    value: 'NAME',
    choices: languageNames(),
    summary: `${languageNames().join(', ')} (default: from the ending of FILE or its first line, else javascript for code from standard input)`,
  },
  {
    name: 'runner',
    value: 'NAME',
    choices: ['auto', 'local', 'docker', 'fleet'],
    summary:
      'auto, local, docker or fleet (default: auto: the fleet if one is named, docker where engine and image are there, else local)',
  },
  {
    name: 'isolation',
    value: 'LEVEL',
    choices: ISOLATION_LEVELS,
    summary: 'the least isolation: none, namespace, container or kernel (default: namespace)',
  },
  ...FLEET_FLAGS,
  {
    name: 'file',
    value: 'SRC[:DEST]',
    repeatable: true,
    summary: 'a file, or a folder with all its files, for the working folder (default DEST: its name)',
  },
  { name: 'stdin', value: 'FILE', summary: "the program's standard input; - for this command's own" },
  {
    name: 'arg',
    value: 'A',
    repeatable: true,
    summary: 'an argument of the program; --arg=--x for one that begins with --',
  },
  {
    name: 'env',
    value: 'K=V',
    repeatable: true,
    summary: 'a variable of the program; it gets no others of this machine',
  },
  { name: 'output', value: 'DIR', summary: 'where artifacts are written (default: they are listed and dropped)' },
  { name: 'expect', value: 'PATH', repeatable: true, summary: 'an output that must be there, below the output folder' },
  ...LIMIT_SPECIFICATIONS,
  ...NETWORK_FLAGS,
  DESCRIPTOR_FLAG,
  { name: 'skills-root', value: 'DIR', summary: 'the built-in skills (default: those of this package)' },
  SOURCES_FLAG,
  { ...CONSUMER_FLAG, summary: `${CONSUMER_FLAG.summary} (default: solver.codegen)` },
  {
    name: 'tool',
    value: 'PATTERN',
    repeatable: true,
    summary: 'a tool that the program may call, by id or pattern, such as skills.read or skills.*; it has no others',
  },
  MCP_FLAG,
  { name: 'skill', value: 'REF', repeatable: true, summary: 'a skill that the job carries, such as public.chart' },
  ...FROZEN_FLAGS,
  JSON_FLAG,
];

/** Runs the job at a service. */
export const AT_SERVICE_FLAG: FlagSpecification = {
  name: 'server',
  value: 'URL',
  summary:
    'run the job at this service, with the token in SKILLCELL_TOKEN; it decides runner, skills, tools and network',
};

const ROOT_FLAG: FlagSpecification = {
  name: 'root',
  value: 'DIR',
  summary: 'the same as --skills-root; other commands of skills have this name',
};

/** The model, for commands that have code written. */
export const MODEL_FLAGS: readonly FlagSpecification[] = [
  { name: 'model', value: 'PROVIDER/MODEL', summary: 'the model that writes the code (default: SKILLCELL_MODEL)' },
  { name: 'replay', value: 'FILE', summary: 'take the answers from a recording' },
  { name: 'record', value: 'FILE', summary: 'write down requests and answers' },
  ...MODEL_TIMEOUT_FLAGS,
];

/** Summaries of job flags that hold for all jobs of a server; an empty text keeps the summary. */
const SERVER_FLAG_SUMMARIES: Readonly<Record<string, string>> = {
  runner: '',
  isolation: '',
  ...Object.fromEntries(FLEET_FLAGS.map(({ name }) => [name, ''])),
  env: '',
  ...Object.fromEntries(LIMIT_SPECIFICATIONS.map(({ name }) => [name, ''])),
  ...Object.fromEntries(NETWORK_FLAGS.map(({ name }) => [name, ''])),
  timeout: 'the most seconds that a run of a program may take (default: 120)',
  'artifact-file': 'size of one artifact (default: 8)',
  'artifact-total': 'size of all artifacts of a job together (default: 16)',
  descriptor: '',
  'skills-root': '',
  frozen: '',
  lock: '',
  sources: '',
  consumer: 'the consumer whose policy in the descriptor applies to clients and their jobs (default: solver.codegen)',
  mcp: '',
  tool: 'a tool that programs may call, by id or pattern, such as skills.read or skills.*',
};

/** Flags of the command that serves MCP clients. */
export const SERVER_FLAGS: readonly FlagSpecification[] = [
  { name: 'http', value: 'PORT', summary: 'serve over HTTP, on 127.0.0.1 only; 0 for a free port (default: stdio)' },
  {
    name: 'token-file',
    value: 'FILE',
    summary: 'with --http: the bearer token that clients must send, in a file that only its owner can read',
  },
  ...JOB_FLAGS.flatMap((flag) => {
    const summary = SERVER_FLAG_SUMMARIES[flag.name];
    return summary === undefined ? [] : [{ ...flag, summary: summary === '' ? flag.summary : summary }];
  }),
  ...MODEL_FLAGS,
  { name: 'pool', value: 'N', summary: 'sandboxes for JavaScript that are started ahead (default: 0)' },
];

/** Job flags of the service: the most that any job may ask for. */
const SERVICE_JOB_FLAGS = [
  ...['runner', 'isolation', 'mcp', 'tool'],
  ...[...FLEET_FLAGS, ...LIMIT_SPECIFICATIONS].map(({ name }) => name),
];

/** Flags of the command that runs the service. */
export const SERVICE_FLAGS: readonly FlagSpecification[] = [
  { name: 'port', value: 'PORT', summary: 'the port to listen at; 0 for a free one (default: 7420)' },
  {
    name: 'host',
    value: 'ADDRESS',
    summary: 'the address to listen at; others than the loopback need --behind-proxy (default: 127.0.0.1)',
  },
  {
    name: 'state',
    value: 'DIR',
    summary: 'where the database and the files of jobs are (default: ~/.local/state/skillcell)',
  },
  {
    name: 'database',
    value: 'URL',
    summary: 'a PostgreSQL database, postgres://… (default: SQLite in the state folder)',
  },
  { name: 'replica', summary: 'be one of several processes with this PostgreSQL database' },
  { name: 'advertise', value: 'URL', summary: 'where the other replicas reach this one, http://HOST:PORT' },
  { name: 'files', value: 'BUCKET', summary: 'where replicas keep the files of jobs, s3://BUCKET/PREFIX' },
  {
    name: 'allow-host',
    value: 'NAME',
    repeatable: true,
    summary: 'a further name of the service, for requests with this Host',
  },
  { name: 'behind-proxy', summary: 'trust the X-Forwarded headers of a proxy, which ends TLS' },
  { name: 'drain', value: 'S', summary: 'seconds that running jobs may take at the end of the service (default: 30)' },
  { name: 'keep-days', value: 'N', summary: 'days that a finished job is kept (default: 30)' },
  {
    name: 'jobs',
    value: 'N',
    summary: 'running jobs at once (default: 256 on a fleet, else one for each processor, and two at least)',
  },
  { name: 'max-waiting', value: 'N', summary: 'waiting jobs of all users; more are refused (default: 1000)' },
  ...SERVER_FLAGS.filter(({ name }) => SERVICE_JOB_FLAGS.includes(name) || name === 'pool'),
  {
    name: 'network',
    value: 'FILE',
    summary: 'hosts, packages and secrets as JSON, within which a job may ask for a network (default: none)',
  },
  ...NETWORK_FLAGS.filter(({ name }) => name === 'network-log'),
  ...MODEL_FLAGS,
  { ...JSON_FLAG, summary: 'print one JSON document at the start: { url, adminToken }' },
];

/** Summaries of job flags for a script of a skill, which names its own language and has no standard input. */
const SCRIPT_FLAG_SUMMARIES: Readonly<Record<string, string | undefined>> = {
  arg: 'an argument of the script, before ARGS',
  file: 'a file, or a folder with all its files, for $WORKSPACE (default DEST: its name)',
  timeout: 'seconds that the script may take, at most 60 (default: 60)',
  'kept-output': 'kept output of stdout, and as much of stderr, at most 1024 (default: 1024)',
  'total-output': 'output of both kinds after which the script ends, at most 1 (default: 1)',
  skill: 'a further skill that the job carries, such as public.chart',
};

/** Flags of the command that runs a script of a skill. */
export const SCRIPT_FLAGS: readonly FlagSpecification[] = JOB_FLAGS.filter(
  ({ name }) => name !== 'language' && name !== 'stdin',
).flatMap((flag) => {
  const summary = SCRIPT_FLAG_SUMMARIES[flag.name] ?? flag.summary;
  return [{ ...flag, summary }, ...(flag.name === 'skills-root' ? [ROOT_FLAG] : [])];
});

/** Job flags for each run of an eval. The eval itself defines the input and the output. */
const OF_EVALS = [
  ...['language', 'runner', 'isolation', 'descriptor'],
  ...[...FLEET_FLAGS, ...LIMIT_SPECIFICATIONS].map(({ name }) => name),
];

/** Flags of the command that evaluates a skill. */
export const EVAL_JOB_FLAGS: readonly FlagSpecification[] = JOB_FLAGS.filter(({ name }) =>
  [...OF_EVALS, 'skills-root', 'sources', 'consumer', 'frozen', 'lock', 'json'].includes(name),
).flatMap((flag) => {
  if (flag.name === 'language') return [{ ...flag, summary: `${languageNames().join(', ')} (default: javascript)` }];
  return [flag, ...(flag.name === 'skills-root' ? [ROOT_FLAG] : [])];
});
