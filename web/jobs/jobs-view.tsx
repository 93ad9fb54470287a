import { Badge, Button, Group, NativeSelect, Table, Text, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { JobSummary } from '../../src/server/schemas/jobs.ts';
import { useUserNames } from '../access/users.ts';
import { Link, linkTo, useFilters } from '../shared/address.tsx';
import { apiPath, ask } from '../shared/api.ts';
import { durationText, timeText } from '../shared/format.ts';
import { useMe } from '../shared/user.ts';
import { Nothing, Problem, View } from '../shared/view.tsx';
import { lastedMs, stateOf } from './jobs.ts';

const FILTERS = [
  { name: 'state', values: ['waiting', 'running', 'finished'] },
  { name: 'outcome', values: ['succeeded', 'failed', 'timeout', 'out_of_memory', 'limit', 'canceled'] },
  { name: 'kind', values: ['exec', 'codegen', 'script'] },
];
const REFRESH_MS = 2_000;
const SEARCH_MS = 300;

/** The list of jobs, which is read again while it is open. */
export function JobsView(): ReactElement {
  const me = useMe();
  const [query, set] = useFilters();
  const search = useDebouncedCallback((words: string) => set('q', words), SEARCH_MS);
  const filters = Object.fromEntries(
    ['state', 'outcome', 'kind', 'label', 'user', 'q'].map((name) => [name, query.get(name)]),
  );
  const jobs = useInfiniteQuery({
    queryKey: ['jobs', 'list', filters],
    queryFn: ({ pageParam }) =>
      ask<{ items: JobSummary[]; next: string | null }>(apiPath('/jobs', { ...filters, cursor: pageParam })),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    refetchInterval: REFRESH_MS,
    placeholderData: (before) => before,
  });
  const rows = jobs.data?.pages.flatMap(({ items }) => items) ?? [];
  return (
    <View
      title="Jobs"
      actions={
        !me.readOnly && (
          <Button component="a" {...linkTo('/jobs/new')}>
            New job
          </Button>
        )
      }
    >
      <Group gap="xs">
        <TextInput
          placeholder="Search"
          aria-label="Search"
          defaultValue={query.get('q') ?? ''}
          onChange={(event) => search(event.currentTarget.value)}
        />
        {FILTERS.map(({ name, values }) => (
          <NativeSelect
            key={name}
            aria-label={name}
            data={[
              { value: '', label: `any ${name}` },
              ...values.map((value) => ({ value, label: value.replaceAll('_', ' ') })),
            ]}
            value={query.get(name) ?? ''}
            onChange={(event) => set(name, event.currentTarget.value)}
          />
        ))}
        {query.get('label') !== null && (
          <Button variant="default" onClick={() => set('label', '')}>
            label {query.get('label')}: all labels
          </Button>
        )}
      </Group>
      <Problem error={jobs.error} />
      {jobs.data !== undefined && rows.length === 0 && <Nothing>No jobs.</Nothing>}
      {rows.length > 0 && <JobTable rows={rows} />}
      {jobs.hasNextPage && (
        <Group>
          <Button variant="default" loading={jobs.isFetchingNextPage} onClick={() => void jobs.fetchNextPage()}>
            More
          </Button>
        </Group>
      )}
    </View>
  );
}

function JobTable({ rows }: { rows: JobSummary[] }): ReactElement {
  const me = useMe();
  const nameOf = useUserNames();
  return (
    <Table.ScrollContainer minWidth={0}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Job</Table.Th>
            <Table.Th>State</Table.Th>
            {me.role !== 'member' && <Table.Th visibleFrom="sm">User</Table.Th>}
            <Table.Th visibleFrom="sm">Submitted</Table.Th>
            <Table.Th visibleFrom="sm">Duration</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((job) => {
            const { word, color } = stateOf(job);
            const lasted = lastedMs(job);
            return (
              <Table.Tr key={job.id}>
                <Table.Td className="breaking">
                  <Link to={`/jobs/${job.id}`}>{job.label ?? job.id}</Link>
                  <Text size="xs" c="dimmed">
                    {job.kind}
                  </Text>
                </Table.Td>
                <Table.Td>
                  <Badge variant="dot" color={color}>
                    {word}
                  </Badge>
                </Table.Td>
                {me.role !== 'member' && <Table.Td visibleFrom="sm">{nameOf(job.userId)}</Table.Td>}
                <Table.Td visibleFrom="sm">{timeText(job.createdAt)}</Table.Td>
                <Table.Td visibleFrom="sm">{lasted === null ? '' : durationText(lasted)}</Table.Td>
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
