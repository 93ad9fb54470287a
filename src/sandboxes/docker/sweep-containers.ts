import type Docker from 'dockerode';
import { isDead, isOurs, parseOwnerName } from '../../durable/owner.ts';
import type { SweepReport } from '../runner.ts';
import { LABEL } from './container-options.ts';
import { removeContainer, type ContainerRemoval } from './container-removal.ts';
import { callEngine } from './engine/engine.ts';

/** How long an ended container is kept if its owner cannot be judged from here, in seconds. */
const LEASE_S = 3_600;

/**
 * Removes the containers of dead owners, and the containers that this runner could not remove before. Containers without the label, or
 * of another owner that may be alive, are never touched. A container that the engine is still creating is not listed yet: a later sweep
 * removes it.
 */
export async function sweepContainers(
  engine: Docker,
  { owed, paid }: Pick<ContainerRemoval, 'owed' | 'paid'>,
  signal?: AbortSignal,
): Promise<SweepReport> {
  const report: SweepReport = { removed: [], failed: [] };
  const found = await callEngine('list containers', (deadline) =>
    engine.listContainers({
      all: true,
      abortSignal: signal === undefined ? deadline : AbortSignal.any([deadline, signal]),
      filters: { label: [`${LABEL.managed}=true`] },
    }),
  );
  for (const container of found) {
    if (signal?.aborted === true) break;
    const { Id, Names } = container;
    const name = Names[0]?.slice(1) ?? Id;
    if (!owed.has(name) && !isLeftOver(container)) continue;
    try {
      await removeContainer(engine.getContainer(Id), signal);
      report.removed.push({ kind: 'container', name });
      paid(name);
    } catch (error) {
      report.failed.push({ kind: 'container', name, reason: (error as Error).message });
    }
  }
  return report;
}

/**
 * An engine may serve several machines. Only the owner's own machine and process namespace can judge the owner. Containers of other
 * machines are removed only if they have ended and are older than the lease.
 */
function isLeftOver({ Labels, State, Created }: Docker.ContainerInfo): boolean {
  const owner = parseOwnerName(Labels[LABEL.owner] ?? '');
  if (owner === undefined) return false;
  if (isDead(owner, 'unknown')) return true;
  return State !== 'running' && State !== 'created' && !isOurs(owner) && Date.now() / 1000 - Created > LEASE_S;
}
