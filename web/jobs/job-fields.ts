import { listOf } from '../shared/format.ts';
import type { ShownRequest } from './jobs.ts';

/** The fields of the form of a job, as people write them. */
export interface JobFields {
  kind: 'exec' | 'codegen' | 'script';
  language: string;
  label: string;
  code: string;
  task: string;
  skill: string;
  script: string;
  skills: string;
  args: string;
  env: string;
  seconds: string;
  memory: string;
  /** Parts of an earlier job that the service does not show. */
  lost: string[];
  /** Fields of an earlier job that the form has no place for. They stay as they are. */
  others: { kind: string; limits: object; skills: object; rest: object };
}

/** The fields of a job from nothing. */
export function emptyFields(): JobFields {
  return {
    ...{ kind: 'exec', language: 'javascript', label: '', code: '', task: '', skill: '', script: '' },
    ...{ skills: '', args: '', env: '', seconds: '', memory: '', lost: [] },
    others: { kind: '', limits: {}, skills: {}, rest: {} },
  };
}

/** The fields of an earlier job. */
export function fieldsFrom(request: ShownRequest): JobFields {
  const { kind, language, label, code, task, skill, script, args = [], env = [], files, stdin, ...others } = request;
  const {
    limits: { runTimeoutMs, memoryMib, ...limits } = {},
    skills: { refs = [], ...skills } = {},
    ...rest
  } = others as {
    limits?: Record<string, number>;
    skills?: { refs?: string[] };
  };
  return {
    ...emptyFields(),
    ...{ kind, code: code ?? '', task: task ?? '', skill: skill ?? '', script: script ?? '' },
    language: language ?? 'javascript',
    label: typeof label === 'string' ? label : '',
    skills: refs.join(', '),
    args: args.join('\n'),
    env: env.map((name) => `${name}=`).join('\n'),
    seconds: runTimeoutMs === undefined ? '' : String(runTimeoutMs / 1_000),
    memory: memoryMib === undefined ? '' : String(memoryMib),
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
  const { kind, language, label, code, task, skill, script, others } = fields;
  const args = fields.args.split('\n').filter((line) => line !== '');
  const refs = listOf(fields.skills);
  const env = fields.env.split('\n').filter((line) => line.includes('='));
  const limits = {
    ...others.limits,
    ...(fields.seconds === '' ? {} : { runTimeoutMs: Math.round(Number(fields.seconds) * 1_000) }),
    ...(fields.memory === '' ? {} : { memoryMib: Number(fields.memory) }),
  };
  const skills = { ...others.skills, ...(refs.length === 0 ? {} : { refs }) };
  return {
    // The other fields of one kind are none of another.
    ...(kind === others.kind ? others.rest : {}),
    kind,
    ...(label.trim() === '' ? {} : { label: label.trim() }),
    ...(kind === 'exec' ? { code, language } : {}),
    ...(kind === 'codegen' ? { task, language } : {}),
    ...(kind === 'script' ? { skill, script } : {}),
    ...(args.length === 0 ? {} : { args }),
    ...(env.length === 0 ? {} : { env: Object.fromEntries(env.map(variable)) }),
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
    ...(Object.keys(skills).length === 0 ? {} : { skills }),
  };
}

function variable(line: string): [name: string, value: string] {
  const end = line.indexOf('=');
  return [line.slice(0, end).trim(), line.slice(end + 1)];
}
