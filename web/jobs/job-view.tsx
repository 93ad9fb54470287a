import { Alert, Badge, Button, CopyButton, Group, Stack, Text, Title } from '@mantine/core';
import type { ReactElement } from 'react';
import type { Job } from '../../src/server/schemas/jobs.ts';
import { Link, goTo, linkTo } from '../shared/address.tsx';
import { ask } from '../shared/api.ts';
import { CodeView } from '../shared/code-view.tsx';
import { ConfirmButton } from '../shared/confirm.tsx';
import { durationText, timeText } from '../shared/format.ts';
import { useChange } from '../shared/queries.ts';
import { useMe } from '../shared/user.ts';
import { Loaded, Problem, View } from '../shared/view.tsx';
import { ArtifactsPart } from './artifacts-part.tsx';
import { asCurl } from './as-curl.ts';
import { AttemptsPart } from './attempts-part.tsx';
import { lastedMs, requestOf, stateOf, useJob } from './jobs.ts';
import { useLiveJob } from './live-job.ts';
import { OutputView } from './output-view.tsx';
import { ResultPart, RunParts } from './result-part.tsx';

/** A job, live until its end. */
export function JobView({ id }: { id: string }): ReactElement {
  const job = useJob(id);
  return <Loaded query={job}>{(loaded) => <LoadedJob job={loaded} />}</Loaded>;
}

function LoadedJob({ job }: { job: Job }): ReactElement {
  const live = useLiveJob(job.id);
  const request = requestOf(job);
  const { word, color } = stateOf(job);
  const lasted = lastedMs(job);
  return (
    <View title={job.label ?? `${job.kind} ${job.id}`} actions={<Actions job={job} />}>
      <Group gap="xs" role="status">
        <Badge variant="dot" color={color} size="lg">
          {word}
        </Badge>
        {job.state !== 'finished' && <Text size="sm">{live.phase}</Text>}
        {live.connection === 'lost' && <Text size="sm">The connection is lost; it is tried again.</Text>}
      </Group>
      <Text size="sm" c="dimmed" className="breaking">
        {job.kind} {job.id}, submitted {timeText(job.createdAt)}
        {lasted !== null && job.state === 'finished' && `, took ${durationText(lasted)}`}
        {job.rerunOf !== null && (
          <>
            , again from <Link to={`/jobs/${job.rerunOf}`}>{job.rerunOf}</Link>
          </>
        )}
      </Text>
      <ResultPart result={live.result} errorCode={job.errorCode} />
      {request.task !== undefined && (
        <Alert variant="outline" color="gray" title="Task" className="breaking">
          {request.task}
        </Alert>
      )}
      <Stack gap="xs">
        <Title order={2} size="h4">
          Output
        </Title>
        <OutputView id={job.id} lines={live.lines} isLive={job.state !== 'finished'} />
      </Stack>
      <ArtifactsPart id={job.id} artifacts={live.artifacts} isFinished={live.result !== null} />
      <AttemptsPart attempts={live.attempts} language={request.language} />
      {request.code !== undefined && (
        <Stack gap="xs">
          <Title order={2} size="h4">
            Program
          </Title>
          <CodeView code={request.code} language={request.language ?? 'javascript'} label="Program" />
        </Stack>
      )}
      {request.script !== undefined && (
        <Text className="breaking">
          Script {request.script} of {request.skill}
        </Text>
      )}
      <RunParts live={live} request={request} />
    </View>
  );
}

function Actions({ job }: { job: Job }): ReactElement {
  const me = useMe();
  const path = `/jobs/${encodeURIComponent(job.id)}`;
  const rerun = useChange(
    () => ask<Job>(`${path}/rerun`, { method: 'POST' }),
    ({ id }) => goTo(`/jobs/${id}`),
  );
  const cancel = useChange(() => ask(`${path}/cancel`, { method: 'POST' }));
  const remove = useChange(
    () => ask(path, { method: 'DELETE' }),
    () => goTo('/jobs'),
  );
  return (
    <>
      <Problem error={rerun.error ?? cancel.error} />
      {!me.readOnly && (
        <>
          {job.state !== 'finished' && (
            <Button color="red" variant="outline" loading={cancel.isPending} onClick={() => cancel.mutate()}>
              Cancel
            </Button>
          )}
          <Button variant="default" loading={rerun.isPending} onClick={() => rerun.mutate()}>
            Run again
          </Button>
          <Button component="a" variant="default" {...linkTo(`/jobs/new?from=${encodeURIComponent(job.id)}`)}>
            Change
          </Button>
        </>
      )}
      <CopyButton value={asCurl(requestOf(job), location.origin)}>
        {({ copied, copy }) => (
          <Button variant="default" onClick={copy}>
            {copied ? 'Copied' : 'Copy as curl'}
          </Button>
        )}
      </CopyButton>
      {!me.readOnly && job.state === 'finished' && (
        <ConfirmButton label="Delete" question="Delete the job with its output and artifacts?" change={remove} />
      )}
    </>
  );
}
