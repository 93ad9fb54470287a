import type { Redis } from 'ioredis';
import { fleetAddress } from './fleet-address.ts';
import { fleetError } from './fleet-error.ts';
import { openFleetLink } from './link/fleet-link.ts';

const PATIENCE_MS = 5_000;

/** Address of a fleet, and the work there, for messages. */
export interface FleetVisit {
  url: string;
  plain?: boolean | undefined;
  /** "list the fleet" */
  action: string;
  signal: AbortSignal;
}

/**
 * Uses a fleet for a few commands.
 *
 * @throws SkillcellError `options.invalid`, `fleet.refused`, `fleet.unavailable`; the reason of the signal
 */
export async function withFleet<Result>(
  { url, plain = false, action, signal }: FleetVisit,
  use: (redis: Redis) => Promise<Result>,
): Promise<Result> {
  const address = fleetAddress(url, plain);
  const link = await openFleetLink({
    address,
    streams: () => [],
    take: () => undefined,
    mostBytes: () => 0,
    onFault: () => undefined,
    onUp: () => undefined,
    // It is thrown.
    onTrouble: () => undefined,
  });
  link.hold(true);
  try {
    await link.connected({ signal, patienceMs: PATIENCE_MS });
    return await use(link.redis);
  } catch (error) {
    signal.throwIfAborted();
    throw fleetError(action, address.shown, error);
  } finally {
    await link.close();
  }
}
