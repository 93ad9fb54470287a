import { ToolCallError } from '../../tools/define/tool-errors.ts';
import type { Tool } from '../../tools/define/tool.ts';
import type { SandboxLimits } from '../../contracts/jobs/limits.ts';
import type { Skill } from '../../contracts/skills/skill.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { withinDeadline } from '../../protocol/within-deadline.ts';
import { canonicalJson } from '../../skills/text/canonical-json.ts';
import type { DescribedTool } from './described-tools.ts';
import { startSkillInHost } from './host-skill-code.ts';
import { prepareDriver } from './prepare-driver.ts';
import { planSkillCode, type SkillCodePart } from './skill-code-plan.ts';
import type { SkillCodeJob, SkillCodeSource } from '../request/skill-code-source.ts';
import { createSkillCopies, isTrusted, type SkillCopies } from './skill-copies.ts';
import { startSkillSandbox, type SkillSandbox, type SkillSandboxes } from './skill-sandbox.ts';

/** Descriptions kept for later jobs; the oldest goes first. */
const KEPT_DESCRIPTIONS = 1_000;

/** Options of {@link createSkillCode}. */
export interface SkillCodeOptions extends Omit<SkillSandboxes, 'prepare'> {
  /** Limits of the sandboxes: the same as in the pool, so that warm sandboxes fit. */
  limits: SandboxLimits;
  /** `host` loads the code of trusted skills into this process, and refuses the code of other skills. */
  mode: 'sandbox' | 'host';
  trustedRoots: readonly string[];
}

/** The code of one skill in one language. */
interface Code {
  skill: Skill;
  part: SkillCodePart;
}

/** Options for starting the code of a skill. */
interface Starting extends SkillCodeOptions {
  copies: SkillCopies;
}

/** Code of a skill that runs for a job. `checked` resolves once its tools are the described ones. */
interface RunningCode {
  sandbox: SkillSandbox;
  checked: Promise<void>;
}

/** A job whose calls are served. */
interface OpenJob {
  job: SkillCodeJob;
  codes: Map<string, RunningCode>;
  changed: AbortController;
}

/** Creates the source of tools that skills bring as code. The code runs in a sandbox of its own for each skill and job. */
export function createSkillCode(given: SkillCodeOptions): SkillCodeSource {
  const options: Starting = { ...given, copies: createSkillCopies() };
  const known = new Map<string, Promise<Tool[]>>();
  const describing = new Set<SkillSandbox>();
  const jobs = new Map<string, OpenJob>();

  const describe = async (job: SkillCodeJob, code: Code): Promise<Tool[]> => {
    const sandbox = start(options, job, code);
    describing.add(sandbox);
    try {
      const rows = await sandbox.described;
      const expected = canonicalJson(rows);
      return rows.map((row) =>
        makeTool(row, effectOf(options, code), (jobId) => runningCode(options, openJob(jobId), code, expected)),
      );
    } finally {
      describing.delete(sandbox);
      sandbox.close();
    }
  };

  /** One description serves all jobs. */
  const describeOnce = (job: SkillCodeJob, code: Code): Promise<Tool[]> => {
    const key = keyOf(code);
    const found = known.get(key);
    if (found !== undefined) return found;
    const made = describe(job, code);
    known.set(key, made);
    // A failure is not cached: the next job tries again.
    made.catch(() => known.delete(key));
    const [oldest] = known.keys();
    if (known.size > KEPT_DESCRIPTIONS && oldest !== undefined) known.delete(oldest);
    return made;
  };

  const openJob = (jobId: string): OpenJob => {
    const job = jobs.get(jobId);
    if (job === undefined) throw new ToolCallError('tool.job-over', 'Cannot make the call: the job is over.');
    return job;
  };

  return {
    async tools(job, signal) {
      requireTrusted(options, job);
      const codes = job.skills.flatMap((skill) => planSkillCode(skill).map((part): Code => ({ skill, part })));
      const made = codes.map(async (code) => {
        const tools = await withinDeadline(describeOnce(job, code), { signal });
        return tools.map((tool) => ({ owner: code.skill.id, tool }));
      });
      const rows = (await Promise.all(made)).flat();
      requireOwnNames(rows);
      return rows.map(({ tool }) => tool);
    },
    open(job) {
      const open: OpenJob = { job, codes: new Map(), changed: new AbortController() };
      const { signal } = open.changed;
      jobs.set(job.jobId, open);
      return {
        signal,
        throwIfChanged: () => signal.throwIfAborted(),
        close() {
          if (jobs.get(job.jobId) === open) jobs.delete(job.jobId);
          for (const { sandbox } of open.codes.values()) sandbox.close();
        },
      };
    },
    close() {
      for (const sandbox of describing) sandbox.close();
      options.leaving.add(options.copies.close());
    },
  };
}

function keyOf({ skill, part }: Code): string {
  return `${part.language} ${skill.id} ${skill.digest}`;
}

function start(options: Starting, job: SkillCodeJob, code: Code): SkillSandbox {
  const { request, jobId, trees, readTree } = job;
  const { skill, part } = code;
  const spec = { skill: skill.id, job: jobId, ...part.spec };
  const tree = trees?.get(skill.id) ?? readTree(skill.id);
  if (isInHost(options, code)) return startSkillInHost(options.copies, skill, tree, spec);
  return startSkillSandbox(
    { ...options, prepare: (driver) => prepareDriver(options, request, skill, driver) },
    { skill: skill.id, tree, language: part.language, spec: JSON.stringify(spec) },
  );
}

/** This process cannot load Python, so Python code always runs in a sandbox. */
function isInHost({ mode }: SkillCodeOptions, { part }: Code): boolean {
  return mode === 'host' && part.language === 'javascript';
}

/** Code in a sandbox leaves no changes after its job; code in this process may. */
function effectOf(options: SkillCodeOptions, code: Code): Tool['effect'] {
  return isInHost(options, code) ? 'write' : 'read';
}

function requireTrusted({ mode, trustedRoots }: SkillCodeOptions, { skills }: SkillCodeJob): void {
  const stranger = mode === 'host' ? skills.find((skill) => !isTrusted(skill, trustedRoots)) : undefined;
  if (stranger === undefined) return;
  const message = `Cannot load the code of ${stranger.id} into this process: its root is not trusted, got a ${stranger.rootKind} root.`;
  throw new SkillcellError('skill-code.not-trusted', message);
}

function makeTool(
  { name, id, description, input }: DescribedTool,
  effect: Tool['effect'],
  codeOf: (jobId: string) => RunningCode,
): Tool {
  return {
    id,
    description,
    ...(input === undefined ? {} : { input }),
    effect,
    outside: true,
    async execute(args, { jobId, signal }) {
      const { sandbox, checked } = codeOf(jobId);
      await withinDeadline(checked, { signal });
      return await sandbox.call(name, args, signal);
    },
  };
}

/** The sandbox of a skill's code, started at the first call. If its tools differ from the offered ones, the job ends. */
function runningCode(options: Starting, open: OpenJob, code: Code, expected: string): RunningCode {
  const key = keyOf(code);
  const found = open.codes.get(key);
  if (found !== undefined && !found.sandbox.hung) return found;
  const sandbox = start(options, open.job, code);
  const check = async (): Promise<void> => {
    // Each call reports why the code cannot be loaded.
    const rows = await sandbox.described.catch(() => undefined);
    if (rows === undefined || canonicalJson(rows) === expected) return;
    const { id } = code.skill;
    open.changed.abort(
      new SkillcellError(
        'skill-code.changed',
        `Cannot go on with the job: the code of ${id} describes other tools than before.`,
      ),
    );
    sandbox.close();
    throw new ToolCallError('skill-code.failed', `The code of ${id} describes other tools than before.`);
  };
  const running = { sandbox, checked: check() };
  running.checked.catch(() => undefined);
  open.codes.set(key, running);
  return running;
}

function requireOwnNames(rows: readonly { owner: string; tool: Tool }[]): void {
  const owners = new Map<string, string>();
  for (const { owner, tool } of rows) {
    const other = owners.get(tool.id);
    if (other !== undefined) {
      const message = `Cannot accept the job: two of its skills have a tool of the same name, got ${tool.id} of ${other} and of ${owner}.`;
      throw new SkillcellError('skill-code.name-conflict', message);
    }
    owners.set(tool.id, owner);
  }
}
