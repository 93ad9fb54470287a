import { createLocalRunner } from '../../../src/sandboxes/local/local-runner.ts';
import { describeRunner } from '../../conformance/runner.ts';
import { descendants, killProcess, sandboxLeftovers } from '../../fixtures/sandbox-leftovers.ts';

for (const isolation of ['none', 'namespace'] as const) {
  describeRunner({
    name: 'local',
    isolation,
    create: () => createLocalRunner(),
    leftovers: async () => sandboxLeftovers(),
    async breakSandbox() {
      for (const { pid, command } of descendants(process.pid)) {
        if (/\bentry\.cjs\b|\bbwrap\b/.test(command)) killProcess(pid);
      }
    },
  });
}
