import type { BuildName, Seat } from '../cluster.ts';

/** The end of a replica: jobs have 30 seconds, and then some more. */
const LEAVES_MS = 60_000;
/** Exit code of a service that was asked to end. */
const ENDED = 143;

/** Ends a replica in good order, and starts another one in its place. */
export async function replaceReplica(seat: Seat, blame: (fault: string) => void, build?: BuildName): Promise<void> {
  await endReplica(seat, blame);
  seat.start(build);
  await seat.ready();
}

/** Asks a replica to end, and waits for its end. */
export async function endReplica(seat: Seat, blame: (fault: string) => void): Promise<void> {
  await seat.ready();
  const late = setTimeout(() => {
    blame(`${seat.name} was asked to leave ${LEAVES_MS} ms ago, and runs`);
    seat.signal('SIGKILL');
  }, LEAVES_MS);
  const code = await seat.end('SIGTERM');
  clearTimeout(late);
  if (code !== ENDED) blame(`${seat.name} has left with ${code}`);
}
