import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { ListedFleet, ListedQueue, ListedWorker } from '../../src/sandboxes/fleet/list-fleet.ts';
import { ApiError, ask } from '../shared/api.ts';
import { ConfirmButton } from '../shared/confirm.tsx';
import { durationText } from '../shared/format.ts';
import { useChange } from '../shared/queries.ts';
import { type Column, Rows } from '../shared/rows.tsx';
import { useMe } from '../shared/user.ts';
import { Loaded, Nothing, Part, Problem, View } from '../shared/view.tsx';

const REFRESH_MS = 2_000;
const NO_FLEET = 'The service has no fleet: its jobs run on its own machine.';

/** The workers that run the sandboxes of the service, and the demands that wait for them. They are read again while the view is open. */
export function FleetView(): ReactElement {
  const fleet = useQuery({
    queryKey: ['fleet'],
    queryFn: () => ask<ListedFleet>('/fleet'),
    // The next reading is a retry.
    retry: false,
    refetchInterval: ({ state }) => (isMissing(state.error) ? false : REFRESH_MS),
  });
  const { data, error } = fleet;
  return (
    <View title="Fleet">
      {isMissing(error) ? (
        <Nothing>{NO_FLEET}</Nothing>
      ) : (
        <>
          {data !== undefined && <Problem error={error} />}
          <Loaded query={fleet}>{(loaded) => <FleetParts fleet={loaded} />}</Loaded>
        </>
      )}
    </View>
  );
}

function isMissing(error: Error | null): boolean {
  return error instanceof ApiError && error.status === 404;
}

const QUEUE_COLUMNS: Column<ListedQueue>[] = [
  { head: 'Queue', cell: ({ queue }) => queue },
  { head: 'Level', cell: ({ isolation }) => isolation },
  { head: 'Build', wide: true, cell: ({ build }) => build },
  { head: 'Waiting', cell: ({ waiting }) => waiting },
  { head: 'Oldest', cell: ({ oldestMs }) => durationText(oldestMs) },
];

function FleetParts({ fleet: { workers, queues } }: { fleet: ListedFleet }): ReactElement {
  const { readOnly } = useMe();
  const changeOf = (worker: ListedWorker): ReactElement | string | false =>
    worker.draining ? 'draining' : !readOnly && <DrainWorker worker={worker} />;
  const columns: Column<ListedWorker>[] = [
    { head: 'Worker', cell: ({ name }) => name },
    { head: 'Queue', wide: true, cell: ({ queue }) => queue },
    { head: 'Level', wide: true, cell: ({ isolation }) => isolation },
    { head: 'Build', wide: true, cell: ({ build }) => build },
    { head: 'Running', cell: ({ running, slots }) => `${running} of ${slots} slots` },
    { head: 'Last beat', wide: true, cell: ({ beatMs }) => `${durationText(beatMs)} ago` },
    { head: 'Change', cell: changeOf },
  ];
  const idOf = ({ queue, isolation, build }: ListedQueue): string => `${queue} ${isolation} ${build}`;
  return (
    <>
      <Rows items={workers} idOf={({ name }) => name} columns={columns} none="No worker is in the fleet." />
      {queues.length > 0 && (
        <Part title="Demands" children={<Rows items={queues} idOf={idOf} columns={QUEUE_COLUMNS} none="" />} />
      )}
    </>
  );
}

function DrainWorker({ worker: { name } }: { worker: ListedWorker }): ReactElement {
  const drain = useChange(() => ask(`/fleet/workers/${encodeURIComponent(name)}/drain`, { method: 'POST' }));
  const question = `The worker ${name} takes no further demand, and ends after its sandboxes.`;
  return <ConfirmButton label="Drain" name={`Drain ${name}`} question={question} change={drain} size="compact-sm" />;
}
