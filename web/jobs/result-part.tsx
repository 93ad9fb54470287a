import { Alert, Text } from '@mantine/core';
import type { ReactElement } from 'react';
import type { CallRow, JobResult } from '../../src/contracts/jobs/result.ts';
import { CodeView } from '../shared/code-view.tsx';
import { bytesText, durationText, shortDigest } from '../shared/format.ts';
import { type Column, Rows } from '../shared/rows.tsx';
import { Note, Part } from '../shared/view.tsx';
import type { ShownRequest } from './jobs.ts';
import type { LiveJob, LostSandbox } from './live-job.ts';

/** Files that a job left out, of which each has a line. */
const MOST_OMITTED = 10;

/** Why a job began anew. */
export function LostPart({ lost }: { lost: LostSandbox[] }): ReactElement | null {
  if (lost.length === 0) return null;
  return (
    <Part title="Lost sandboxes">
      {lost.map(({ attempt, worker, reason }) => (
        <Text key={attempt} size="sm" className="breaking">
          Attempt {attempt}
          {worker !== null && ` on worker ${worker}`}: {reason}
        </Text>
      ))}
    </Part>
  );
}

/** The error of a job with its advice, and its value. */
export function ResultPart(props: { result: JobResult | null; errorCode: string | null }): ReactElement | null {
  const { result, errorCode } = props;
  if (result === null) return null;
  const { outcome, value, omitted } = result;
  return (
    <>
      {outcome !== 'succeeded' && (
        <Alert color="red" variant="outline" title={endOf(result, errorCode)} className="breaking">
          {linesOf(result).map((line) => (
            <Text key={line} size="sm" children={line} />
          ))}
        </Alert>
      )}
      {value !== undefined && (
        <Part
          title="Value"
          children={<CodeView code={JSON.stringify(value, null, 2)} language="json" label="Value" />}
        />
      )}
      {omitted.slice(0, MOST_OMITTED).map(({ path, reason }) => (
        <Note key={path}>{`${path} is left out: ${reason}`}</Note>
      ))}
      {omitted.length > MOST_OMITTED && <Note>{`${omitted.length - MOST_OMITTED} more files are left out.`}</Note>}
    </>
  );
}

function endOf({ outcome, limit, exitCode, signal }: JobResult, errorCode: string | null): string {
  const reasons = [
    limit && `limit ${limit}`,
    exitCode && `exit code ${exitCode}`,
    signal && `signal ${signal}`,
    errorCode,
  ].filter(Boolean);
  return `${outcome.replaceAll('_', ' ')}${reasons.length > 0 ? `: ${reasons.join(', ')}` : ''}`;
}

function linesOf({ error, diagnostics, contract }: JobResult): string[] {
  const place = error?.line === undefined ? '' : ` (line ${error.line})`;
  return [
    ...(error === undefined ? [] : [`${error.name}: ${error.message}${place}`]),
    // A failure of ours is the error and a diagnostic as well.
    ...diagnostics.filter(({ code }) => code !== error?.name).map(({ code, message }) => `${message} (${code})`),
    ...(contract?.missing ?? []).map((name) => `${name} is missing`),
  ];
}

const CALL_COLUMNS: Column<CallRow>[] = [
  { head: 'Call', cell: ({ name }) => name },
  { head: 'End', cell: ({ ok, error }) => (ok ? 'ok' : (error ?? 'failed')) },
  { head: 'Time', cell: ({ durationMs }) => durationText(durationMs) },
];

/** Skills, calls, files and uses of limits. */
export function RunParts({ live, request }: { live: LiveJob; request: ShownRequest }): ReactElement {
  const { skills, calls, result } = live;
  const files = request.files.map(({ destination, bytes }) => `${destination} (${bytesText(bytes)})`);
  return (
    <>
      {skills !== null && skills.active.length > 0 && (
        <Part title="Skills">
          <Text className="breaking">{skills.active.join(', ')}</Text>
          <Note>
            digest {shortDigest(skills.digest ?? '')}
            {skills.instructionSha256 !== null && `, instructions ${shortDigest(skills.instructionSha256)}`}
          </Note>
        </Part>
      )}
      {calls.length > 0 && (
        <Part title="Calls" children={<Rows items={calls} idOf={({ id }) => id} columns={CALL_COLUMNS} none="" />} />
      )}
      {files.length > 0 && <Part title="Input files" children={<Text className="breaking">{files.join(', ')}</Text>} />}
      {result !== null && <Part title="Use" children={<Text size="sm">{usesOf(result).join(' · ')}</Text>} />}
    </>
  );
}

function usesOf({
  runner,
  isolation,
  worker,
  attempt,
  usage,
  stdout,
  stderr,
  artifacts,
  callTotals,
}: JobResult): string[] {
  const { wallMs, cpuMs, maxRssBytes } = usage;
  const calls = Object.values(callTotals).reduce((sum, total) => sum + total.calls, 0);
  const isCut = stdout.truncated || stderr.truncated;
  return [
    runner === null ? 'no sandbox' : `runner ${runner}, isolation ${isolation}`,
    ...(worker === undefined ? [] : [`worker ${worker}`]),
    ...(attempt === 1 ? [] : [`attempt ${attempt}`]),
    wallMs !== null && `time ${durationText(wallMs)}`,
    cpuMs !== null && `processor ${durationText(cpuMs)}`,
    maxRssBytes !== null && `memory ${bytesText(maxRssBytes)}`,
    `output ${bytesText(stdout.bytes + stderr.bytes)}${isCut ? ', cut off' : ''}`,
    `artifacts ${bytesText(artifacts.reduce((sum, { bytes }) => sum + bytes, 0))}`,
    `calls ${calls}`,
  ].filter((text) => text !== false);
}
