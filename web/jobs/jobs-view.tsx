import { Badge, Button, Group } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { JobSummary } from '../../src/server/schemas/jobs.ts';
import { Link, useFilters } from '../shared/address.tsx';
import { apiPath, ask } from '../shared/api.ts';
import { ChoiceField, LinkButton } from '../shared/fields.tsx';
import { durationText, timeText } from '../shared/format.ts';
import { type Column, Rows } from '../shared/rows.tsx';
import { SearchField } from '../shared/search-field.tsx';
import { useMe } from '../shared/user.ts';
import { useUserNames } from '../shared/users.ts';
import { Problem, View } from '../shared/view.tsx';
import { lastedMs, stateOf } from './jobs.ts';

const FILTERS = [
  { name: 'state', values: ['waiting', 'running', 'finished'] },
  { name: 'outcome', values: ['succeeded', 'failed', 'timeout', 'out_of_memory', 'limit', 'canceled'] },
  { name: 'kind', values: ['exec', 'codegen', 'script'] },
];
const NAMES = ['state', 'outcome', 'kind', 'label', 'user', 'q'];
const REFRESH_MS = 2_000;

/** The list of jobs, which is read again while it is open. */
export function JobsView(): ReactElement {
  const me = useMe();
  const [query, set] = useFilters();
  const filters = Object.fromEntries(NAMES.map((name) => [name, query.get(name)]));
  const jobs = useInfiniteQuery({
    queryKey: ['jobs', 'list', filters],
    queryFn: ({ pageParam }) =>
      ask<{ items: JobSummary[]; next: string | null }>(apiPath('/jobs', { ...filters, cursor: pageParam })),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    refetchInterval: REFRESH_MS,
    placeholderData: (before) => before,
  });
  const label = query.get('label');
  return (
    <View title="Jobs" actions={!me.readOnly && <LinkButton variant="filled" to="/jobs/new" children="New job" />}>
      <Group gap="xs">
        <SearchField />
        {FILTERS.map(({ name, values }) => {
          const choices = values.map((value) => ({ value, label: value.replaceAll('_', ' ') }));
          const data = [{ value: '', label: `any ${name}` }, ...choices];
          return (
            <ChoiceField
              key={name}
              aria-label={name}
              data={data}
              value={query.get(name) ?? ''}
              onChange={(value) => set(name, value)}
            />
          );
        })}
        {label !== null && <Button onClick={() => set('label', '')}>only {label}: show all labels</Button>}
      </Group>
      <Problem error={jobs.error} />
      {jobs.data !== undefined && <JobRows jobs={jobs.data.pages.flatMap(({ items }) => items)} />}
      {jobs.hasNextPage && (
        <Group>
          <Button loading={jobs.isFetchingNextPage} onClick={() => void jobs.fetchNextPage()} children="More" />
        </Group>
      )}
    </View>
  );
}

function JobRows({ jobs }: { jobs: JobSummary[] }): ReactElement {
  const nameOf = useUserNames();
  const columns: Column<JobSummary>[] = [
    { head: 'Job', cell: ({ id, label }) => <Link to={`/jobs/${id}`}>{label ?? id}</Link> },
    { head: 'State', cell: (job) => <JobBadge job={job} /> },
    { head: 'Kind', wide: true, cell: ({ kind }) => kind },
    { head: 'User', wide: true, cell: ({ userId }) => nameOf(userId) },
    { head: 'Submitted', wide: true, cell: ({ createdAt }) => timeText(createdAt) },
    { head: 'Duration', wide: true, cell: (job) => durationText(lastedMs(job)) },
  ];
  return <Rows items={jobs} idOf={({ id }) => id} columns={columns} none="No jobs." />;
}

/** The state of a job. */
export function JobBadge({ job }: { job: JobSummary }): ReactElement {
  const { word, color } = stateOf(job);
  return <Badge variant="dot" color={color} children={word} />;
}
