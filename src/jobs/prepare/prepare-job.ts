import { randomUUID } from 'node:crypto';
import { describeTool, type OfferedTool } from '../../tools/define/offered-tool.ts';
import type { Tool } from '../../tools/define/tool.ts';
import type { Diagnostic } from '../../contracts/errors/diagnostic.ts';
import type { RuntimeGlobals } from '../../contracts/jobs/globals.ts';
import type { JobMatch } from '../../contracts/skills/matching.ts';
import { DEFAULT_CONSUMER } from '../../contracts/jobs/job.ts';
import type { Language } from '../../contracts/jobs/language.ts';
import type { JobLimits } from '../../contracts/jobs/limits.ts';
import type { JobKind } from '../../contracts/jobs/result.ts';
import type { SkillTrees } from '../../contracts/skills/skill.ts';
import type { SkillsSubsystem } from '../../skills/index.ts';
import { askedTools } from '../request/asked-tools.ts';
import { checkDestinations } from '../request/check-destinations.ts';
import { checkJobNetwork, type JobNetwork } from '../network/job-network.ts';
import type { NetworkSettings } from '../network/network-settings.ts';
import { effectiveLimits } from '../request/effective-limits.ts';
import { type PreparedFile, prepareInputFiles, readHostFile } from './input-files.ts';
import { type CheckedRequest, checkRequest, invalid, selects } from '../request/job-schema.ts';
import { withPromptTools } from './prompt-tools.ts';
import { compileOutput, type OutputSchema } from '../request/output-schema.ts';
import { prepareTools, unknownTools } from './prepare-tools.ts';
import { laterTools } from './later-tools.ts';
import { matchJob, withoutLacking } from './matched-skills.ts';
import { createDisclosureTools, type DisclosureTools } from '../../tools/agent/disclosure-tools.ts';
import { requestedSkills, requireSkills } from '../request/requested-skills.ts';
import { canCallTools, programName, requestProgram, requireCallable } from './job-program.ts';
import { type PreparedSkills, prepareSkills } from './prepare-skills.ts';
import { loadableSkills, loadSkillTools, skillCodeJob, withSkillTools } from './skill-tools.ts';
import type { SkillCodeJob, SkillCodeSource } from '../request/skill-code-source.ts';
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { printablePath } from '../../protocol/files/shown-path.ts';

const MIB = 1024 * 1024;

/** A job that is checked and has its skills exported. Nothing is started yet. */
export interface PreparedJob {
  jobId: string;
  kind: JobKind;
  request: CheckedRequest;
  language: Language;
  limits: JobLimits;
  globals: RuntimeGlobals;
  /** Skills as they were at the submission; the job keeps them to its end. */
  subsystem: SkillsSubsystem | undefined;
  trees: SkillTrees;
  files: PreparedFile[];
  stdin: Uint8Array | undefined;
  /** Schema of the value of a codegen job; undefined if no value is required. */
  valueSchema: OutputSchema | undefined;
  /** Tools of the job, by id. A job with `skillTools` gets those of skills that it loads later. */
  tools: ReadonlyMap<string, OfferedTool>;
  /** The skills whose code may be called; undefined if there are none, and none can come. */
  skillCode: SkillCodeJob | undefined;
  /** Whether it has `load_skill` and all tools of its skills. */
  skillTools: boolean;
  /** The tools by which it finds skills while it runs; undefined if there are no skills. */
  disclosure: DisclosureTools | undefined;
  /** Ids of the skills, in load order. */
  active: string[];
  /** The skills that matched its task; undefined if it was not matched. */
  match: JobMatch | undefined;
  /** The network that it asks for; undefined without one. */
  network: JobNetwork | undefined;
  /** Digest of the instruction block that the entry must render too; null if no block is rendered. */
  instructionSha256: string | null;
  diagnostics: Diagnostic[];
}

/** Options of {@link prepareJob}. */
export interface PreparationOptions {
  skills: SkillsSubsystem | undefined;
  tools: readonly Tool[];
  ceilings: Partial<JobLimits>;
  model: string;
  /** Absent if the code of skills makes no tools. */
  skillCode?: SkillCodeSource | undefined;
  /** Absent if no job has a network. */
  network?: NetworkSettings | undefined;
  /** Whether the job has `load_skill` and all tools of its skills, beside its own tools. @default false */
  skillTools?: boolean | undefined;
  /** Ends the preparation. */
  signal?: AbortSignal;
}

/**
 * Checks a request and gathers the contents of its sandbox.
 *
 * @param known earlier match of a job that is prepared again; its references already include the matched skills
 * @throws SkillcellError `job.invalid`, `file.unreadable`, or a `skills.` code
 */
export async function prepareJob(given: unknown, options: PreparationOptions, known?: JobMatch): Promise<PreparedJob> {
  const checked = checkRequest(given);
  const jobId = checked.jobId ?? randomUUID();
  const network = checkJobNetwork(checked, options.network);
  const matched = known === undefined ? matchJob(checked, options.skills) : { request: checked, match: known };
  const opened = matched.match !== undefined && !selects(checked);
  const subsystem = await carriedSkills(matched.request, options);
  requireSkills(matched.request, subsystem);
  const skillTools = options.skillTools === true && canCallTools(checked);
  const skillCode = skillCodeJob(jobId, matched.request, subsystem, skillTools);
  const disclosure = disclosureTools(checked, subsystem);
  const asked = askedTools(checked.tools ?? [], options.tools);
  const loading = skillTools ? loadSkillTools(disclosure, [...options.tools, ...asked.own]) : [];
  const hostTools = [...options.tools, ...asked.own, ...(disclosure?.tools ?? []), ...loading];
  const limits = effectiveLimits(checked.kind, checked.limits ?? {}, options.ceilings);
  const available = await withSkillTools(hostTools, skillCode, options, limits.jobTimeoutMs);
  const brought = skillTools ? [...loading, ...available.slice(hostTools.length)] : [];
  const patterns = [...asked.patterns, ...brought.map(({ id }) => id)];
  const tools = await prepareTools(patterns, available, selects(checked) || opened);
  const own = checked.skills?.refs ?? [];
  const { request, match } = withoutLacking(matched, own, subsystem, [...tools.keys()]);
  const skills = prepareSkills(request, subsystem, [...tools.keys()]);
  const code = codeWhileRunning(skillCode, { jobId, request, disclosure, skillTools }, skills.trees);
  const taken = hostTools.map(({ id }) => id);
  disclosure?.begin({
    ...{ active: readSkills(request, skills), pool: skills.pool, tools: [...tools.keys()] },
    bring:
      skillTools && code !== undefined && options.skillCode !== undefined
        ? laterTools(code, options.skillCode, { tools, taken })
        : undefined,
  });
  const { language, script } = requestProgram(request, skills, subsystem);
  requireCallable(tools, language);
  const valueSchema = await valueSchemaOf(request);
  const workspaceBytes = limits.workspaceMib * MIB;
  const inputs = await prepareInputFiles(request.files ?? [], limits);
  const destinations = inputs.files.map(({ destination }) => destination);
  checkDestinations(destinations, {
    program: programName(request, language),
    // A session may have files in its output folder from the start: they are from its own earlier runs.
    fillsOutput: request.kind === 'session',
  });
  await checkOutputFolder(request.output);
  const stdin = await readStdin(request, workspaceBytes);
  const { consumer = DEFAULT_CONSUMER } = request.skills ?? {};
  const offer = { consumer, tools: [...tools.keys()] };
  const loadable = skillTools ? loadableSkills(subsystem, skills.active, offer) : undefined;
  const globals: RuntimeGlobals = {
    SKILLS_DESCRIPTOR: skills.descriptor,
    SOURCES_POOL: request.skills?.pool ?? [],
    EXECUTION_ID: jobId,
    TOOLS: Array.from(tools.values(), describeTool),
    JOB: {
      kind: request.kind,
      language,
      args: request.args ?? [],
      env: request.env ?? {},
      expect: declaredFiles(request),
      limits,
      skills: {
        refs: skills.refs,
        consumer,
        variant: request.skills?.variant ?? 'full',
        includeInternal: request.skills?.includeInternal ?? false,
      },
      ...kindOfJob(request, options.model, valueSchema, loadable ?? match?.text),
      ...(script === undefined ? {} : { script }),
    },
  };
  const { trees, active, instructionSha256, diagnostics } = skills;
  return {
    jobId,
    kind: request.kind,
    request,
    language,
    limits,
    globals: await withPromptTools(globals, {
      tools: tools.values(),
      active,
      subsystem,
      budgetTokens: request.kind === 'codegen' ? request.toolBudgetTokens : undefined,
    }),
    subsystem,
    trees,
    files: inputs.files,
    stdin,
    valueSchema,
    tools,
    skillCode: code,
    skillTools,
    disclosure,
    network,
    active,
    match,
    instructionSha256,
    diagnostics: [...inputs.diagnostics, ...(opened ? unknownTools(asked.patterns, tools) : []), ...diagnostics],
  };
}

/** Fetches the job's skills completely: matching in a library needs only their heads. */
async function carriedSkills(
  request: CheckedRequest,
  { skills, signal }: PreparationOptions,
): Promise<SkillsSubsystem | undefined> {
  const { consumer = DEFAULT_CONSUMER, includeInternal } = request.skills ?? {};
  return await skills?.withWhole({ refs: requestedSkills(request), consumer, includeInternal, signal });
}

/** The code of a job with all tools of its skills is served also without any at first: it may load skills with code. */
function codeWhileRunning(
  skillCode: SkillCodeJob | undefined,
  { jobId, request, disclosure, skillTools }: Pick<PreparedJob, 'jobId' | 'request' | 'disclosure' | 'skillTools'>,
  trees: SkillTrees,
): SkillCodeJob | undefined {
  if (!skillTools || disclosure === undefined) return skillCode && { ...skillCode, trees };
  const readTree: SkillCodeJob['readTree'] = (id) => disclosure.skills.skillTree(id);
  return { jobId, request, skills: skillCode?.skills ?? [], trees, readTree };
}

function disclosureTools(
  { skills: asked }: CheckedRequest,
  skills: SkillsSubsystem | undefined,
): DisclosureTools | undefined {
  if (skills === undefined) return undefined;
  const { consumer = DEFAULT_CONSUMER, includeInternal } = asked ?? {};
  return createDisclosureTools({ skills, consumer, includeInternal });
}

/** Skills whose instructions were rendered: only codegen renders them. */
function readSkills({ kind }: CheckedRequest, { active }: PreparedSkills): string[] {
  return kind === 'codegen' ? active : [];
}

/** Fields that only one kind of job has. */
function kindOfJob(
  request: CheckedRequest,
  model: string,
  valueSchema: OutputSchema | undefined,
  skillList: string | undefined,
): Pick<RuntimeGlobals['JOB'], 'code' | 'fileName' | 'codegen'> {
  if (request.kind === 'exec')
    return { code: request.code, ...(request.fileName === undefined ? {} : { fileName: request.fileName }) };
  if (request.kind === 'script' || request.kind === 'session') return {};
  const { task, maxAttempts = 3, dryRun = false } = request;
  const value = valueSchema === undefined ? {} : { value: valueSchema.json };
  const others = skillList === undefined || skillList === '' ? {} : { otherSkills: skillList };
  return { codegen: { task, model: request.model ?? model, maxAttempts, dryRun, ...value, ...others } };
}

function declaredFiles(request: CheckedRequest): string[] {
  const files = request.kind === 'codegen' ? (request.outputs?.files ?? []) : [];
  return [...new Set([...(request.expect ?? []), ...files])];
}

async function valueSchemaOf(request: CheckedRequest): Promise<OutputSchema | undefined> {
  const schema = request.kind === 'codegen' ? request.outputs?.value : undefined;
  return schema === undefined ? undefined : await compileOutput(schema, 'the value of outputs');
}

async function readStdin(request: CheckedRequest, maxBytes: number): Promise<Uint8Array | undefined> {
  const stdin = request.kind === 'script' ? undefined : request.stdin;
  if (typeof stdin === 'string') return Buffer.from(stdin);
  if (stdin === undefined || stdin instanceof Uint8Array) return stdin;
  return await readHostFile(stdin.source, maxBytes);
}

/**
 * Refuses an unusable output folder before the job runs. A missing folder is made when the first artifact arrives.
 *
 * @throws SkillcellError `job.invalid`
 */
async function checkOutputFolder(path: string | undefined): Promise<void> {
  if (path === undefined) return;
  try {
    const status = await stat(path);
    if (!status.isDirectory()) throw invalid(`output must be a folder, got ${printablePath(path)}`);
    await access(path, constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return;
    if (code === 'ENOTDIR') throw invalid(`output must be a folder below folders, got ${printablePath(path)}`);
    if (code === 'EACCES' || code === 'EROFS')
      throw invalid(`output must be a folder that can be written, got ${printablePath(path)}`);
    throw error;
  }
}
