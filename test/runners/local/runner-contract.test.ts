import { createLocalRunner } from '../../../src/runners/local/local-runner.ts';
import { describeRunner } from '../../conformance/runner.ts';
import { descendants, sandboxLeftovers } from '../../fixtures/sandbox-leftovers.ts';

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    // It went with the one before.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

for (const isolation of ['none', 'namespace'] as const) {
  describeRunner({
    name: 'local',
    isolation,
    create: () => createLocalRunner(),
    leftovers: async () => sandboxLeftovers(),
    async breakSandbox() {
      for (const { pid, command } of descendants(process.pid)) {
        if (/\bentry\.cjs\b|\bbwrap\b/.test(command)) kill(pid);
      }
    },
  });
}
