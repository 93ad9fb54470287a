import { Alert, Stack, Table, Text, Title } from '@mantine/core';
import type { ReactElement, ReactNode } from 'react';
import type { JobResult } from '../../src/contracts/jobs/result.ts';
import { CodeView } from '../shared/code-view.tsx';
import { shortDigest } from '../shared/format.ts';
import { type ShownRequest, usesOf } from './jobs.ts';
import type { LiveJob } from './live-job.ts';

/** The error of a job with its advice, and its value. */
export function ResultPart({
  result,
  errorCode,
}: {
  result: JobResult | null;
  errorCode: string | null;
}): ReactElement | null {
  if (result === null) return null;
  const { outcome, error, limit, exitCode, signal, diagnostics, value, omitted } = result;
  const end = [
    limit !== undefined && `limit ${limit}`,
    exitCode !== null && exitCode !== 0 && `exit code ${exitCode}`,
    signal !== null && `signal ${signal}`,
    errorCode,
  ].filter(Boolean);
  return (
    <>
      {outcome !== 'succeeded' && (
        <Alert
          color="red"
          variant="outline"
          title={`${outcome.replaceAll('_', ' ')}${end.length > 0 ? `: ${end.join(', ')}` : ''}`}
          className="breaking"
        >
          <Stack gap={4}>
            {error !== undefined && (
              <Text size="sm">
                {error.name}: {error.message}
                {error.line !== undefined && ` (line ${error.line})`}
              </Text>
            )}
            {diagnostics.map(({ code, message }) => (
              <Text key={`${code} ${message}`} size="sm">
                {message} ({code})
              </Text>
            ))}
          </Stack>
        </Alert>
      )}
      {value !== undefined && (
        <Stack gap="xs">
          <Title order={2} size="h4">
            Value
          </Title>
          <CodeView code={JSON.stringify(value, null, 2)} language="json" label="Value" />
        </Stack>
      )}
      {omitted.map(({ path, reason }) => (
        <Text key={path} size="sm" className="breaking">
          {path} is left out: {reason}
        </Text>
      ))}
    </>
  );
}

/** Skills, calls, files and uses of limits. */
export function RunParts({ live, request }: { live: LiveJob; request: ShownRequest }): ReactElement {
  const { skills, calls, result } = live;
  return (
    <>
      {skills !== null && skills.active.length > 0 && (
        <Part title="Skills">
          {skills.active.map((id) => (
            <Text key={id} size="sm" className="breaking">
              {id}
            </Text>
          ))}
          <Text size="sm" c="dimmed" className="breaking">
            digest {shortDigest(skills.digest ?? '')}
            {skills.instructionSha256 !== null && `, instructions ${shortDigest(skills.instructionSha256)}`}
          </Text>
        </Part>
      )}
      {calls.length > 0 && (
        <Part title="Calls">
          <Table.ScrollContainer minWidth={0}>
            <Table>
              <Table.Tbody>
                {calls.map(({ id, name, ok, durationMs, error }) => (
                  <Table.Tr key={id}>
                    <Table.Td className="breaking">{name}</Table.Td>
                    <Table.Td className="breaking">{ok ? 'ok' : (error ?? 'failed')}</Table.Td>
                    <Table.Td>{durationMs} ms</Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Table.ScrollContainer>
        </Part>
      )}
      {request.files.length > 0 && (
        <Part title="Input files">
          {request.files.map(({ destination, bytes }) => (
            <Text key={destination} size="sm" className="breaking">
              {destination} ({bytes} B)
            </Text>
          ))}
        </Part>
      )}
      {result !== null && (
        <Part title="Use">
          <Text size="sm">
            {[
              result.runner === null ? 'no sandbox' : `runner ${result.runner}, isolation ${result.isolation}`,
              ...usesOf(result).map(([name, used]) => `${name} ${used}`),
            ].join(' · ')}
          </Text>
        </Part>
      )}
    </>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }): ReactElement {
  return (
    <Stack gap={4}>
      <Title order={2} size="h4">
        {title}
      </Title>
      {children}
    </Stack>
  );
}
