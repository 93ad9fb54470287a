import { Button, CopyButton, Group, Text } from '@mantine/core';
import type { ReactElement } from 'react';
import type { Job } from '../../src/server/schemas/jobs.ts';
import { goTo, Link } from '../shared/address.tsx';
import { ask } from '../shared/api.ts';
import { CodeView } from '../shared/code-view.tsx';
import { ConfirmButton } from '../shared/confirm.tsx';
import { LinkButton } from '../shared/fields.tsx';
import { durationText, timeText } from '../shared/format.ts';
import { useChange } from '../shared/queries.ts';
import { useMe } from '../shared/user.ts';
import { useUserNames } from '../shared/users.ts';
import { Loaded, Note, Part, Problem, View } from '../shared/view.tsx';
import { ArtifactsPart } from './artifacts-part.tsx';
import { asCurl } from './as-curl.ts';
import { AttemptsPart } from './attempts-part.tsx';
import { lastedMs, requestOf, useJob } from './jobs.ts';
import { JobBadge } from './jobs-view.tsx';
import { useLiveJob } from './live-job.ts';
import { OutputView } from './output-view.tsx';
import { LostPart, ResultPart, RunParts } from './result-part.tsx';

/** A job, live until its end. */
export function JobView({ id }: { id: string }): ReactElement {
  const job = useJob(id);
  return (
    <Loaded isView query={job}>
      {(loaded) => <LoadedJob job={loaded} />}
    </Loaded>
  );
}

function LoadedJob({ job }: { job: Job }): ReactElement {
  const live = useLiveJob(job.id);
  const nameOf = useUserNames();
  const request = requestOf(job);
  const { id, kind, label, state, createdAt, finishedAt, rerunOf, errorCode, userId } = job;
  const { language, task, code, script, skill } = request;
  return (
    <View title={label ?? `${kind} ${id}`} actions={<Actions job={job} />}>
      <Group gap="xs" role="status">
        <JobBadge job={job} />
        {state !== 'finished' && <Text size="sm">{live.phase}</Text>}
        {live.connection === 'lost' && <Text size="sm">The connection is lost; it is tried again.</Text>}
      </Group>
      <Note>
        {kind} {id}, submitted by {nameOf(userId)} at {timeText(createdAt)}
        {finishedAt !== null && `, took ${durationText(lastedMs(job))}`}
        {rerunOf !== null && ', again from '}
        {rerunOf !== null && <Link to={`/jobs/${rerunOf}`}>{rerunOf}</Link>}
      </Note>
      <LostPart lost={live.lost} />
      <ResultPart result={live.result} errorCode={errorCode} />
      {task !== undefined && <Part title="Task" children={<Text className="breaking">{task}</Text>} />}
      <Part title="Output" children={<OutputView id={id} lines={live.lines} isLive={live.result === null} />} />
      <ArtifactsPart id={id} artifacts={live.artifacts} isFinished={live.result !== null} />
      <AttemptsPart attempts={live.attempts} language={language} />
      {code !== undefined && (
        <Part title="Program" children={<CodeView code={code} language={language ?? 'javascript'} label="Program" />} />
      )}
      {script !== undefined && <Part title="Script" children={`${script} of ${skill}`} />}
      <RunParts live={live} request={request} />
    </View>
  );
}

function Actions({ job }: { job: Job }): ReactElement {
  const me = useMe();
  const path = `/jobs/${job.id}`;
  const rerun = useChange(
    () => ask<Job>(`${path}/rerun`, { method: 'POST' }),
    ({ id }) => goTo(`/jobs/${id}`),
  );
  const cancel = useChange(() => ask(`${path}/cancel`, { method: 'POST' }));
  const remove = useChange(
    () => ask(path, { method: 'DELETE' }),
    () => goTo('/jobs'),
  );
  const isOver = job.state === 'finished';
  const question = 'Delete the job with its output and artifacts?';
  return (
    <>
      <Problem error={rerun.error ?? cancel.error} />
      <CopyButton value={asCurl(requestOf(job), location.origin)}>
        {({ copied, copy }) => <Button onClick={copy} children={copied ? 'Copied' : 'Copy as curl'} />}
      </CopyButton>
      {!me.readOnly && (
        <>
          <Button loading={rerun.isPending} onClick={() => rerun.mutate()} children="Run again" />
          <LinkButton to={`/jobs/new?from=${job.id}`} children="Change" />
          {isOver ? (
            <ConfirmButton label="Delete" question={question} change={remove} />
          ) : (
            <Button
              color="red"
              variant="outline"
              loading={cancel.isPending}
              onClick={() => cancel.mutate()}
              children="Cancel"
            />
          )}
        </>
      )}
    </>
  );
}
