import { listOf } from '../shared/format.ts';
import type { ShownRequest } from './jobs.ts';

/** Names of the fields that hold a text. */
export type FieldName =
  | ('kind' | 'language' | 'label' | 'code' | 'task' | 'skill' | 'script' | 'skills' | 'args' | 'env')
  | ('seconds' | 'memory' | 'network' | 'npm' | 'pypi' | 'secrets');

/** The fields of the form of a job, as people write them. */
export interface JobFields extends Record<FieldName, string> {
  /** Parts of an earlier job that the service does not show. */
  lost: string[];
  /** Fields of an earlier job that the form has no place for. They stay as they are. */
  others: { kind: string; limits: object; skills: object; rest: object };
}

/** The fields of a job from nothing. */
export const EMPTY_FIELDS: JobFields = fieldsFrom({ kind: 'exec', files: [], stdin: null });

/** The fields of an earlier job. */
export function fieldsFrom(request: ShownRequest): JobFields {
  const { kind, language = 'javascript', label = '', code = '', task = '', skill = '', ...given } = request;
  const { script = '', args = [], env = [], files, stdin, network = [], packages = {}, ...others } = given;
  const { secrets = [], limits: givenLimits = {}, skills: givenSkills = {}, ...rest } = others;
  const { runTimeoutMs, memoryMib, ...limits } = givenLimits;
  const { refs = [], ...skills } = givenSkills;
  const { npm = [], pypi = [] } = packages;
  return {
    ...{ kind, language, label, code, task, skill, script },
    skills: refs.join(', '),
    args: args.join('\n'),
    env: env.map((name) => `${name}=`).join('\n'),
    seconds: runTimeoutMs === undefined ? '' : String(runTimeoutMs / 1_000),
    memory: memoryMib === undefined ? '' : String(memoryMib),
    // A rule that is no text is a line of JSON.
    network: network.map((rule) => (typeof rule === 'string' ? rule : JSON.stringify(rule))).join('\n'),
    ...{ npm: npm.join('\n'), pypi: pypi.join('\n'), secrets: secrets.join('\n') },
    lost: [
      ...files.map(({ destination }) => destination),
      ...(stdin === null ? [] : ['standard input']),
      ...env.map((name) => `value of ${name}`),
    ],
    others: { kind, limits, skills, rest },
  };
}

/** The job that the form describes. */
export function jobOf(fields: JobFields): Record<string, unknown> {
  const { kind, language, label, code, task, skill, script, seconds, memory, others } = fields;
  const env = fields.env.split('\n').filter((line) => line.includes('='));
  const limits = {
    runTimeoutMs: seconds && Math.round(Number(seconds) * 1_000),
    memoryMib: memory && Number(memory),
  };
  return {
    // The other fields of one kind are none of another.
    ...(kind === others.kind ? others.rest : {}),
    kind,
    ...(kind === 'exec' ? { code, language } : {}),
    ...(kind === 'codegen' ? { task, language } : {}),
    ...(kind === 'script' ? { skill, script } : {}),
    ...filled({
      label: label.trim(),
      args: fields.args.split('\n').filter((line) => line !== ''),
      env: Object.fromEntries(env.map(variable)),
      limits: { ...others.limits, ...filled(limits) },
      skills: { ...others.skills, ...filled({ refs: listOf(fields.skills, ',') }) },
      network: listOf(fields.network, '\n').map((line): unknown => (line.startsWith('{') ? JSON.parse(line) : line)),
      packages: filled({ npm: listOf(fields.npm, '\n'), pypi: listOf(fields.pypi, '\n') }),
      secrets: listOf(fields.secrets, '\n'),
    }),
  };
}

/** Fields without the empty ones. */
function filled(fields: Record<string, string | number | object>): Record<string, unknown> {
  const isFilled = ([, value]: [string, string | number | object]): boolean =>
    typeof value === 'number' || Object.keys(value).length > 0;
  return Object.fromEntries(Object.entries(fields).filter(isFilled));
}

function variable(line: string): [name: string, value: string] {
  const end = line.indexOf('=');
  return [line.slice(0, end).trim(), line.slice(end + 1)];
}
