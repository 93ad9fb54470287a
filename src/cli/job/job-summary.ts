import { join } from 'node:path';
import type { JobDecision } from '../../contracts/jobs/decision.ts';
import type { JobMatch } from '../../contracts/skills/matching.ts';
import type { Artifact, JobResult, OutputText } from '../../contracts/jobs/result.ts';
import { networkLines } from './network-lines.ts';
import { diagnosticLine } from '../terminal/diagnostic-line.ts';

const VALUE_LENGTH = 200;

/**
 * Summarizes a job for people.
 *
 * @param output the folder that artifacts were written to
 * @returns lines; untrusted parts are not escaped yet
 */
export function jobSummary(result: JobResult, output: string | undefined): string[] {
  const { value, error, contract, omitted, diagnostics, codegen, artifacts, decision, match } = result;
  const attempts = codegen?.attempts ?? [];
  return [
    outcomeLine(result),
    ...(decision === undefined ? [] : [decisionLine(decision)]),
    ...(match === undefined ? [] : matchLines(match)),
    ...attempts.map(({ model, outcome, usage }, index) => {
      const tokens = `${usage.inputTokens ?? '?'} tokens in, ${usage.outputTokens ?? '?'} out`;
      return `attempt ${index + 1}: ${outcome} (${model}, ${tokens})`;
    }),
    ...(error === undefined ? [] : [`error: ${error.name}: ${error.message}${at(error.line)}`]),
    ...cutStream('stdout', result.stdout),
    ...cutStream('stderr', result.stderr),
    ...(contract?.satisfied === false ? [`missing: ${contract.missing.join(', ')}`] : []),
    // A text was printed already.
    ...(value === undefined || decision?.action === 'text' ? [] : [`value: ${cut(JSON.stringify(value))}`]),
    ...artifacts.map((artifact) => artifactLine(artifact, output)),
    ...(artifacts.length > 0 && output === undefined ? ['artifacts are dropped; --output DIR keeps them'] : []),
    ...omitted.map(({ path, reason }) => `omitted: ${path} (${reason})`),
    ...networkLines(result.network),
    // The start of the job already reported its runner, and why others were passed over.
    ...diagnostics.filter(({ code }) => code !== 'runner.passed-over').map(diagnosticLine),
  ];
}

function outcomeLine({ outcome, limit, exitCode, signal, usage, runner, isolation, decision }: JobResult): string {
  const how = [
    ...(limit === undefined ? [] : [`limit of ${limit}`]),
    ...(exitCode === null ? [] : [`exit code ${exitCode}`]),
    ...(signal === null ? [] : [signal]),
    ...(usage.wallMs === null ? [] : [`${Math.round(usage.wallMs)} ms`]),
    decision?.action === 'text' ? 'no sandbox' : `${runner}, ${isolation}`,
  ];
  return `outcome: ${outcome} (${how.join(', ')})`;
}

function decisionLine({ action, rounds, handover }: JobDecision): string {
  const rows = handover?.skills ?? rounds.flatMap(({ chosen, fault }) => (fault === undefined ? chosen : []));
  const skills = rows.filter(({ status }) => status === 'loaded').map(({ id, ref }) => id ?? ref);
  const tokens = (side: 'inputTokens' | 'outputTokens'): string => {
    const counts = rounds.map(({ usage }) => usage[side]);
    return counts.includes(null) ? '?' : String(counts.reduce<number>((sum, count) => sum + (count ?? 0), 0));
  };
  const how = `${rounds.length} requests, ${tokens('inputTokens')} tokens in, ${tokens('outputTokens')} out`;
  return `decision: ${action ?? 'none'} with ${skills.length === 0 ? 'no skill' : skills.join(', ')} (${how})`;
}

function matchLines({ tier, matches, kept, leftOut }: JobMatch): string[] {
  return [
    ...matches.map(({ id, hits }) => `matched: ${id} (${hits.join(', ')})`),
    ...kept.map((id) => `still active: ${id}`),
    ...(matches.length === 0 ? [`matched: no skill (tier ${tier})`] : []),
    ...leftOut.map(({ id, reason }) => `would match and is left out: ${id} (${reason})`),
  ];
}

/** Output of a program beyond the limit is counted, but not passed on. */
function cutStream(name: string, { text, bytes, truncated }: OutputText): string[] {
  return truncated ? [`${name}: the first ${Buffer.byteLength(text)} of ${bytes} bytes`] : [];
}

function artifactLine({ path, bytes, mediaType }: Artifact, output: string | undefined): string {
  return `artifact: ${output === undefined ? path : join(output, path)} (${bytes} bytes, ${mediaType})`;
}

function at(line: number | undefined): string {
  return line === undefined ? '' : ` (line ${line})`;
}

function cut(text: string): string {
  return text.length <= VALUE_LENGTH ? text : `${text.slice(0, VALUE_LENGTH)}…`;
}
