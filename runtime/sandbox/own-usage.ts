import { existsSync } from 'node:fs';
import type { SandboxUsage } from '../../src/contracts/jobs/usage.ts';
import { readControlGroupUsage } from '../../src/protocol/control-group-usage.ts';

const ROOT = '/sys/fs/cgroup';

/** The counters of this container's own control group, which the engine mounts read-only. */
export function ownUsage(root: string = ROOT): SandboxUsage {
  const unified = existsSync(`${root}/cgroup.controllers`);
  const at = (controller: string): string => (unified ? root : `${root}/${controller}`);
  return readControlGroupUsage({
    unified,
    memory: at('memory'),
    pids: at('pids'),
    cpu: at('cpu'),
    cpuacct: at('cpuacct'),
  });
}
