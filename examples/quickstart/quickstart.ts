/** The purpose of skillcell, in a minute: `npm start`, or `npm start -- --model PROVIDER/MODEL`. */
import { readFileSync, rmSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createModelGateway } from '../../src/models/gateways/create-model-gateway.ts';
import { readModelSettings } from '../../src/models/gateways/model-environment.ts';
import type { ModelGateway } from '../../src/models/model-gateway.ts';
import { replayGateway } from '../../src/models/recordings/replay-gateway.ts';
import { cliRunners } from '../../src/cli/job/runners.ts';
import type { CodegenOptions } from '../../src/contracts/jobs/job.ts';
import type { JobResult } from '../../src/contracts/jobs/result.ts';
import { SkillcellError } from '../../src/contracts/errors/skillcell-error.ts';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import type { Orchestrator } from '../../src/jobs/orchestrator.ts';
import { loadSkillsSubsystem } from '../../src/skills/index.ts';
import { type ComparedJob, compareJobs } from './compare-jobs.ts';
import { drawChart } from './draw-chart.ts';
import { plainJob, plainRecording, quickstartJob, quickstartRecording, SHOWN_SKILL } from './quickstart-job.ts';
import { resolveFootnotes } from './resolve-footnotes.ts';
import { coloured, fileLink, joinedLines, say, sayColumns, sayTitle, shown, WIDTH, wrapped } from './terminal.ts';
import { type Attempt, tryToReach } from './try-to-reach.ts';

const output = fileURLToPath(new URL('./output', import.meta.url));
const builtinRoot = fileURLToPath(new URL('../../skills', import.meta.url));
const canceled = new AbortController();

/** A finished codegen job, with the prompt that its model received. */
interface Done extends ComparedJob {
  result: JobResult;
}

function createHost(model?: ModelGateway): Orchestrator {
  const skills = loadSkillsSubsystem({ builtinRoot });
  // On a machine without isolation the jobs run all the same, and the output says so.
  const host = { skills, runners: cliRunners({ env: process.env }), allowUnisolated: true };
  return createOrchestrator(model === undefined ? host : { ...host, model });
}

async function showRefusals(): Promise<void> {
  sayTitle('1  One program, run twice: it reaches for a key, a file and the network');
  await using host = createHost();
  const { plain, job, result, file, requests } = await tryToReach(host, { signal: canceled.signal });
  const place = result.isolation === 'none' ? 'as a job, unisolated' : `as a job, in a ${result.isolation}`;
  const tell = ({ reached, says }: Attempt): string => `${reached ? 'REACHED' : 'refused'}: ${shown(says)}`;
  const told = (aim: 'key' | 'file' | 'network'): string => (job === undefined ? 'not told' : tell(job[aim]));
  const widths = [34, 30, WIDTH - 64];
  sayColumns(widths, [
    ['', 'run plainly', `${place} (${result.runner})`],
    ['the key of a process beside it', tell(plain.key), told('key')],
    [`the file ${file}`, tell(plain.file), told('file')],
    ['a server on this machine', tell(plain.network), told('network')],
    ['requests at that server', `${requests.plain} request`, requests.job === 0 ? 'none' : `${requests.job} request`],
  ]);
  if (result.outcome !== 'succeeded') say(`The job ended as ${result.outcome}: ${shown(result.stderr.text)}`);
  if (result.isolation === 'none') {
    say('This machine has no isolation; node bin/skillcell.js doctor lists the missing packages.');
  }
}

async function write(job: CodegenOptions, model: ModelGateway, folder: string): Promise<Done> {
  rmSync(folder, { recursive: true, force: true });
  let prompt = '';
  const asking: ModelGateway = {
    id: model.id,
    generate(request, options) {
      prompt = [request.system, ...request.messages.map(({ content }) => content)].join('\n');
      return model.generate(request, options);
    },
  };
  await using host = createHost(asking);
  const result = await host.codegen({ ...job, output: folder, signal: canceled.signal });
  const report = result.outcome === 'succeeded' ? readFileSync(`${folder}/report.md`, 'utf8') : '';
  return { prompt, report, active: result.skills.active, result };
}

function chooseModels(name: string | undefined): { plain: ModelGateway; skilled: ModelGateway } {
  const settings = readModelSettings(name);
  if (settings === undefined) {
    say('No model is configured: two recorded answers, made for this example, are replayed. SKILLCELL_MODEL=… asks one.');
    return { plain: replayGateway(plainRecording), skilled: replayGateway(quickstartRecording) };
  }
  const gateway = createModelGateway(settings);
  say(`${gateway.id} is asked twice.`);
  return { plain: gateway, skilled: gateway };
}

async function showSkill(name: string | undefined): Promise<Done> {
  sayTitle(`2  One task, without and with the skill ${SHOWN_SKILL}`);
  for (const line of wrapped((plainJob().task.split('\n\n')[0] ?? '').replace(/\n/g, ' '), WIDTH)) say(line);
  const models = chooseModels(name);
  const plain = await write(plainJob(), models.plain, `${output}/without`);
  const skilled = canceled.signal.aborted ? plain : await write(quickstartJob(), models.skilled, output);
  if (canceled.signal.aborted) return skilled;
  const half = Math.floor((WIDTH - 30) / 2);
  const rows = [['', 'without', 'with'], ...compareJobs(plain, skilled)];
  say();
  sayColumns([30, half, half], rows.map((row) => row.map(shown)));
  return skilled;
}

function showResult({ result, report }: Done): void {
  const { runner, isolation, artifacts, sources } = result;
  sayTitle('3  The output of the sandbox');
  const chart = drawChart(shown(readFileSync(`${output}/chart.svg`, 'utf8')), Math.min(WIDTH, 96), coloured);
  for (const line of chart ?? []) say(line);
  const { text, footnotes } = resolveFootnotes(report, sources);
  const prose = text.replace(/^!\[[^\]]*\]\([^)]*\)\n+/gm, '').replace(/\*\*/g, '');
  say();
  for (const line of wrapped(joinedLines(shown(prose)), WIDTH)) say(line);
  say();
  for (const note of footnotes) for (const line of wrapped(shown(note), WIDTH)) say(line);
  say();
  for (const { path, bytes } of artifacts) {
    const file = `${output}/${path}`;
    say(`${fileLink(file, relative(process.env['INIT_CWD'] ?? process.cwd(), file))} (${bytes} bytes)`);
  }
  const seconds = ((result.usage.wallMs ?? 0) / 1000).toFixed(2);
  say(`Written and run in ${seconds} s by the ${runner} runner at isolation level ${isolation}, every byte of its skills checked inside.`);
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { model: { type: 'string' } } });
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => canceled.abort(new Error(name)));
  await showRefusals();
  if (canceled.signal.aborted) return 130;
  const done = await showSkill(values.model);
  if (canceled.signal.aborted) return 130;
  if (done.result.outcome === 'succeeded') {
    showResult(done);
    return 0;
  }
  const { error } = done.result;
  say(`The job ended as ${done.result.outcome}${error === undefined ? '' : `: ${shown(`${error.name}: ${error.message}`)}`}`);
  return 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!SkillcellError.isInstance(error)) throw error;
  process.stderr.write(`${error.message}\n${error.hint}\n`);
  process.exitCode = error.entry.exitCode;
}
