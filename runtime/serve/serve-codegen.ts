import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import { type Diagnostic, diagnostic } from '../../src/contracts/errors/diagnostic.ts';
import type { LanguageDefinition } from '../../src/contracts/jobs/language.ts';
import type { CodegenAttempt } from '../../src/contracts/jobs/result.ts';
import type { RequestAnswer, SandboxMessage, SandboxResult } from '../../src/protocol/messages/messages.ts';
import { withinDeadline } from '../../src/protocol/within-deadline.ts';
import type { AgentAnswer } from '../agent/agent-ports.ts';
import type { Prompt } from '../agent/build-prompt.ts';
import { runAgent } from '../agent/run-agent.ts';
import { installedPackages, type InstalledPackages } from '../languages/installed-packages.ts';
import { readLanguage } from '../languages/read-language.ts';
import { placeSkills } from './arrived-skills.ts';
import { fitInputs } from './fit-inputs.ts';
import type { CallPort } from '../run/call-port.ts';
import { emptyRun, type RunOutcome } from '../run/run-outcome.ts';
import type { JobSurroundings } from '../run/job-surroundings.ts';
import type { Installation } from '../packages/install-packages.ts';
import { runProgram } from '../run/run-program.ts';
import type { SandboxLayout } from '../sandbox/sandbox-layout.ts';
import { renderArrived, type RenderedSkills } from './render-arrived.ts';
import { sendOutputs } from '../run/send-outputs.ts';
import { wrapData } from '../agent/wrap-data.ts';
import { receiveSkills } from '../files/incoming-streams.ts';

/**
 * Serves a codegen job: rebuilds the skills from the received files, renders them, and lets the agent ask, run and repair. This process knows only
 * the skills that the host sent.
 */
export async function serveCodegen(around: JobSurroundings): Promise<void> {
  const { globals, layout, channel, calls, canceled } = around;
  const job = globals.JOB;
  const say = (message: SandboxMessage): void => channel.send(message);
  const language = readLanguage(layout.runtime, job.language);
  const asked = askForPackages(layout, language);
  const rendered = renderRequested(around);
  say({ type: 'skills', skills: rendered.skills });
  placeSkills(around, around.trees);
  await fitInputs(around);

  let run = 0;
  const files = listInputs(layout.workspace);
  const inputs = new Set(files.map(({ path }) => path));
  const stdin = around.stdin === undefined ? undefined : await readAll(around.stdin);
  const { codegen } = job;
  if (codegen === undefined) throw new Error('Cannot serve a codegen job: its task is missing.');
  const own = await installAsked(around);
  if (own.failed !== undefined) return await sendOutputs(around, own.failed, { sources: rendered.pool, attempts: [] });
  const installed = await asked;
  const input = {
    instructionBlock: rendered.text,
    task: codegen.task,
    otherSkills: codegen.otherSkills,
    language,
    installed: installed.packages,
    packages: own.packages,
    files,
    expect: job.expect,
    tools: globals.TOOLS,
    requests: codegen.requests,
    declarations: codegen.declarations,
    value: codegen.value,
    network: job.network,
    maxAttempts: codegen.maxAttempts,
    dryRun: codegen.dryRun,
    pathAliases: [
      { path: layout.workspace, shown: '/workspace' },
      { path: layout.skills, shown: '/skills' },
    ],
  };
  const judged: CodegenAttempt[] = [];
  const found = [...installed.diagnostics];
  try {
    const { attempts, last, prompt } = await runAgent(input, {
      signal: canceled,
      event: say,
      attempted: (attempt) => void judged.push(attempt),
      askModel: async (request) => {
        const reply = await withinDeadline(calls.call('model', 'generate', request), { signal: canceled });
        if (!reply.ok) throw new ModelUnavailable(reply.error.message);
        return reply.value as AgentAnswer;
      },
      serveRequest: (request) => serveRequest(request, around, rendered),
      runCode: async (code, files) => {
        run += 1;
        // Each attempt reads the same input.
        const again = stdin === undefined ? undefined : Readable.from([stdin]);
        const outcome = await runProgram(around, run, code, again, { inputs, files });
        found.push(...outcome.diagnostics.filter((row) => !found.some((known) => isDeepStrictEqual(known, row))));
        return await judgedByHost(outcome, around);
      },
    });
    const outcome = last ?? (await showPrompt(around, prompt));
    await sendOutputs(around, outcome, { sources: rendered.pool, attempts, diagnostics: found });
  } catch (error) {
    if (!canceled.aborted && !(error instanceof ModelUnavailable)) throw error;
    const { outcome, ...rest } = unfinished(around, error as Error);
    const more = { sources: rendered.pool, attempts: judged, diagnostics: found, ...rest };
    await sendOutputs(around, { ...emptyRun([]), outcome }, more);
  }
}

/** Installs the packages of the job. They belong to the job: no attempt installs them again. */
async function installAsked(around: JobSurroundings): Promise<Installation> {
  if (around.globals.JOB.packages === undefined) return { packages: [] };
  const { installPackages } = await import('../packages/install-packages.ts');
  return await installPackages(around);
}

/** Lets the host judge a run before the agent continues. If the job ended meanwhile, the run is kept: the agent makes no further attempt. */
async function judgedByHost(run: RunOutcome, around: JobSurroundings): Promise<RunOutcome> {
  const { globals, canceled } = around;
  try {
    const judged = globals.JOB.codegen?.value === undefined ? run : await withValueJudged(run, around);
    const told = globals.JOB.network === undefined ? judged : await withDenials(judged, around);
    return globals.TOOLS.length === 0 ? told : await withEffects(told, around);
  } catch (error) {
    if (!canceled.aborted) throw error;
    return run.outcome === 'succeeded' ? { ...run, ...unfinished(around, error as Error) } : run;
  }
}

/** A run whose value the host rejects has failed, so that the agent repairs it. */
async function withValueJudged(run: RunOutcome, { calls, canceled }: JobSurroundings): Promise<RunOutcome> {
  if (run.outcome !== 'succeeded') return run;
  const fault = run.value === undefined ? 'it is missing' : await faultOf(run.value, calls, canceled);
  if (fault === undefined) return run;
  const leftOut = run.diagnostics.find((row) => row.code === 'value.invalid');
  const message = leftOut?.message ?? `The value does not fit: ${fault}.`;
  return { ...run, outcome: 'failed', error: { name: 'ContractError', message, stack: '' } };
}

/** Adds to a failed run the effects that the next run must not repeat. */
async function withEffects(run: RunOutcome, { calls, canceled }: JobSurroundings): Promise<RunOutcome> {
  if (run.outcome === 'succeeded') return run;
  const reply = await withinDeadline(calls.call('host', 'effects', null), { signal: canceled });
  return reply.ok ? { ...run, effects: reply.value as string[] } : run;
}

/** Adds to a run that is repaired the requests that the rules of its network denied. */
async function withDenials(run: RunOutcome, { calls, canceled }: JobSurroundings): Promise<RunOutcome> {
  if (run.outcome === 'succeeded' && run.missing.length === 0) return run;
  const reply = await withinDeadline(calls.call('host', 'denials', null), { signal: canceled });
  return reply.ok ? { ...run, denials: reply.value as string[] } : run;
}

async function faultOf(value: unknown, calls: CallPort, signal: AbortSignal): Promise<string | undefined> {
  const reply = await withinDeadline(calls.call('host', 'judge', value), { signal });
  return reply.ok ? (reply.value as { fault?: string }).fault : reply.error.message;
}

/** Only the prompt waits for this answer; a prompt without it names no package. */
async function askForPackages(
  { runtime }: SandboxLayout,
  language: LanguageDefinition,
): Promise<{ packages: InstalledPackages | undefined; diagnostics: Diagnostic[] }> {
  try {
    return { packages: await installedPackages(runtime, language), diagnostics: [] };
  } catch (error) {
    const message = `The prompt names no package: ${language.title} did not list its packages (${(error as Error).message.slice(0, 200)}).`;
    return { packages: undefined, diagnostics: [diagnostic('packages.unknown', message)] };
  }
}

async function readAll(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** The model gave no answer; the host reports the reason. */
class ModelUnavailable extends Error {
  override readonly name = 'ModelUnavailable';
}

function unfinished(
  { canceled, globals }: JobSurroundings,
  error: Error,
): Partial<SandboxResult> & Pick<SandboxResult, 'outcome'> {
  switch (canceled.reason) {
    case 'timeout': {
      const message = `The job took longer than ${globals.JOB.limits.jobTimeoutMs / 1000} s.`;
      return { outcome: 'timeout', error: { name: 'JobTimeout', message, stack: '' } };
    }
    case 'calls':
    case 'network':
      return { outcome: 'limit', limit: canceled.reason };
    case 'canceled':
      return { outcome: 'canceled' };
    default:
      return { outcome: 'failed', error: { name: error.name, message: error.message, stack: '' } };
  }
}

/** The prompt as the result of a dry run: complete as the value, readable as the output. */
async function showPrompt({ channel, globals }: JobSurroundings, prompt: Prompt): Promise<RunOutcome> {
  const [stdout, stderr] = [channel.openStream(), channel.openStream()];
  channel.send({ type: 'run', run: 1, stdout: stdout.number, stderr: stderr.number } satisfies SandboxMessage);
  const bytes = Buffer.from(`${prompt.system}\n${prompt.user}`);
  await stdout.write(bytes.subarray(0, globals.JOB.limits.keptOutputBytes));
  for (const writer of [stdout, stderr]) writer.end();
  return {
    ...emptyRun([]),
    outcome: 'succeeded',
    value: { system: prompt.system, messages: [{ role: 'user', content: prompt.user }] },
    stdout: { text: '', bytes: bytes.length, truncated: false },
  };
}

/** Renders the skills of the job. */
function renderRequested({ globals, trees }: JobSurroundings): RenderedSkills {
  const { SKILLS_DESCRIPTOR: descriptor, SOURCES_POOL: pool, JOB } = globals;
  if (descriptor !== null) return renderArrived(JOB, { descriptor, trees, refs: JOB.skills.refs, pool });
  return { text: '', skills: { active: [], digest: null, instructionSha256: null }, pool };
}

/** The input files, by path. Folders, such as the output folder, are not listed. */
function listInputs(workspace: string): { path: string; bytes: number }[] {
  const found: { path: string; bytes: number }[] = [];
  for (const entry of readdirSync(workspace, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    found.push({ path: path.slice(workspace.length + 1), bytes: statSync(path).size });
  }
  return found;
}

/**
 * Asks the host for the data that the model requests instead of a program. The host decides which data the job's consumer may have.
 * Further skills are checked and rendered like the job's own skills, and join them.
 *
 * @param rendered the job's rendered skills; updated in place
 * @returns the reply for the model
 */
async function serveRequest(request: string, around: JobSurroundings, rendered: RenderedSkills): Promise<string> {
  const { calls, channel, globals, privileges, trees } = around;
  const arriving = receiveSkills();
  const reply = await calls.call('host', 'request', request, () => arriving.reader);
  if (!reply.ok) return reply.error.message;
  const { notes, texts, skills } = reply.value as RequestAnswer;
  const parts = [...notes];
  if (skills !== undefined) {
    const arrived = await arriving.done;
    const more = renderArrived(globals.JOB, { ...skills, trees: arrived });
    const fresh = [...arrived].filter(([id]) => !trees.has(id));
    // After a run this process still has the user id of the program.
    privileges.asSupervisor(() => placeSkills(around, new Map(fresh)));
    for (const [id, tree] of fresh) trees.set(id, tree);
    rendered.pool = more.pool;
    channel.send({ type: 'skills', skills: more.skills } satisfies SandboxMessage);
    parts.push(more.text.trimEnd());
  }
  parts.push(...texts.map(({ label, text }) => wrapData(label, text)));
  return parts.join('\n\n');
}
