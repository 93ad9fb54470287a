import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import { ALL_LEVELS, everyRunner, requireEachLevel } from '../../fixtures/every-level.ts';
import { listOwnContainers } from '../../fixtures/own-containers.ts';
import { descendants, hostProcesses } from '../../fixtures/sandbox-leftovers.ts';
import { skillLibrary, skillText } from '../../fixtures/skill-library.ts';
import { sweepUntil } from '../../fixtures/sweep-until.ts';
import { until } from '../../fixtures/until.ts';

const HOST = fileURLToPath(new URL('../../fixtures/skill-code-host.ts', import.meta.url));
const LASTING = `import { spawn } from 'node:child_process';
export const Tools = [
  { id: 'begin', execute({ daemon }) { spawn('bash', ['-c', 'exec -a ' + daemon + ' sleep 600'], { detached: true, stdio: 'ignore' }).unref(); } },
  { id: 'last', execute: () => new Promise(() => setInterval(() => {}, 1000)) },
];
`;

it.for(ALL_LEVELS)('a host that is killed at level %s leaves no sandbox of skill code', async (isolation, context) => {
  requireEachLevel(context, isolation);
  using library = skillLibrary({
    'lasting/SKILL.md': skillText({ name: 'lasting', description: 'Lasts.', toolsets: ['tools:Tools'] }, 'Body.'),
    'lasting/tools.mjs': LASTING,
  });
  const daemon = `skill-daemon-${Math.random().toString(36).slice(2)}`;
  const host = spawn(process.execPath, [HOST, isolation, library.root, daemon], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const pid = host.pid as number;
  const alive = (): number => hostProcesses().filter(({ command }) => command.startsWith(daemon)).length;
  let owner = '';
  const containers = async (): Promise<number> =>
    isolation === 'container' ? (await listOwnContainers(owner)).length : 0;
  try {
    owner = String(await once(host.stdout, 'data')).trim();
    await until(() => alive() === 1, 'the daemon of the code');
    const family = new Set(descendants(pid).map((row) => row.pid));
    const entries = descendants(pid).filter(({ command }) => /\bentry\.cjs\b/.test(command));
    const sandboxes = isolation === 'container' ? await containers() : entries.length;
    expect(sandboxes, 'the sandboxes of the job and of the code, and a waiting one').toBeGreaterThanOrEqual(2);
    process.kill(pid, 'SIGKILL');
    await until(
      () => alive() === 0 && !hostProcesses().some((row) => family.has(row.pid)),
      'the end of all its processes',
    );
  } finally {
    host.kill('SIGKILL');
    await using orchestrator = createOrchestrator({ runners: await everyRunner() });
    await sweepUntil(orchestrator, async () => alive() === 0 && (await containers()) === 0);
  }
});
