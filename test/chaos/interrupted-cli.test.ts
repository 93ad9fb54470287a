import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { LABEL } from '../../src/sandboxes/docker/container-options.ts';
import { dockerImage, dockerTest, type DockerImage } from '../fixtures/docker-image.ts';
import { spawnCli } from '../fixtures/spawn-cli.ts';
import { until } from '../fixtures/until.ts';
import { outsideView, ownerOf, type OutsideView } from './outside-view.ts';
import { startQuietClock } from '../fixtures/quiet-clock.ts';

/** Writes, then stays. Leaves a file that is collected at its end. */
const PROGRAM = `import { writeFileSync } from 'node:fs';
writeFileSync(process.env.SKILLCELL_OUTPUT + '/a.bin', Buffer.alloc(4 * 1024 * 1024));
console.log('up');
await new Promise((resolve) => setTimeout(resolve, 60_000));`;
const CODES = { SIGTERM: 143, SIGINT: 130, SIGHUP: 129 } as const;
/** An interrupted command has its grace period. Then its remaining processes are killed. */
const END_MS = 6_000;

/** Moments in a job: a number is milliseconds from the start; `output` is the first output of the program; the rest are events of the engine. */
const MOMENTS = [0, 60, 120, 200, 'create', 'attach', 'start', 'output', 'kill', 'die'] as const;
type Moment = (typeof MOMENTS)[number];

let image: DockerImage | undefined;
let temporary: string;
let view: OutsideView;
beforeAll(() => {
  temporary = mkdtempSync(join(tmpdir(), 'interrupted-'));
});
afterAll(() => rmSync(temporary, { recursive: true }));

interface Interrupted {
  code: number | null;
  tookMs: number;
  left: string[];
}

/** Starts a job in a container, sends signals at a moment, and returns the state after its end. */
async function interrupt(moment: Moment, ...signals: (keyof typeof CODES)[]): Promise<Interrupted> {
  image ??= await dockerImage();
  view = outsideView(temporary, image.engine);
  // The engine announces the events of all owners. The owner in the labels selects the events of this process.
  const ending = new AbortController();
  const seen: { owner: string; action: string }[] = [];
  const events = await image.engine.getEvents({
    filters: { type: ['container'], label: [`${LABEL.managed}=true`] },
    abortSignal: ending.signal,
  });
  events.on('error', () => undefined);
  events.on('data', (bytes: Buffer) => {
    for (const line of String(bytes).split('\n').filter(Boolean)) {
      const { Action, Actor } = JSON.parse(line) as { Action: string; Actor: { Attributes: Record<string, string> } };
      seen.push({ owner: Actor.Attributes[LABEL.owner] ?? '', action: Action });
    }
  });

  const ends = moment === 'die' || moment === 'kill';
  const code = ends ? PROGRAM.replace('60_000', '1') : PROGRAM;
  const cli = spawnCli(['exec', '-', '--runner', 'docker', '--output', join(temporary, 'out')], {
    env: { TMPDIR: temporary },
  });
  let stdout = '';
  let stderr = '';
  cli.stdout?.on('data', (bytes: Buffer) => (stdout += String(bytes)));
  cli.stderr?.on('data', (bytes: Buffer) => (stderr += String(bytes)));
  cli.stdin?.on('error', () => undefined).end(code);
  const owner = ownerOf(cli.pid ?? 0) ?? '';
  const happened = (): boolean => seen.some((event) => event.owner === owner && event.action === moment);
  const over = (): boolean => cli.exitCode !== null || cli.signalCode !== null;
  if (typeof moment === 'number') await pause(moment);
  else if (moment === 'output') await until(() => stdout.includes('up') || over(), 'the first output', 20_000);
  else await until(() => happened() || over(), `the event ${moment}`, 20_000);
  const elapsedMs = startQuietClock();
  for (const signal of signals) {
    cli.kill(signal);
    await pause(signals.length > 1 ? 400 : 0);
  }
  if (!over()) await once(cli, 'exit');
  const tookMs = elapsedMs();
  ending.abort();
  let left = await view.leftovers(owner);
  // The kernel may take a moment to remove the processes.
  for (let tries = 0; left.length > 0 && tries < 400; tries += 1) {
    await pause(50);
    left = await view.leftovers(owner);
  }
  expect(stderr).not.toMatch(/\bat .*:\d+:\d+|Unhandled/);
  return {
    code: cli.exitCode ?? (cli.signalCode === null ? null : CODES[cli.signalCode as keyof typeof CODES]),
    tookMs,
    left,
  };
}

describe('F17 a command whose job runs in a container', () => {
  for (const moment of MOMENTS) {
    const when = typeof moment === 'number' ? `${moment} ms after its start` : `at the moment ${moment}`;
    dockerTest(`that SIGTERM ends ${when} leaves no container`, {}, async () => {
      const { code, tookMs, left } = await interrupt(moment, 'SIGTERM');
      expect(left).toEqual([]);
      expect(tookMs).toBeLessThan(END_MS);
      // A finished job may have been reported before the signal came.
      expect(moment === 'kill' || moment === 'die' ? [0, 143] : [143]).toContain(code);
    });
  }

  for (const signal of ['SIGINT', 'SIGHUP'] as const) {
    for (const moment of ['create', 'output'] as const) {
      dockerTest(`that ${signal} ends at the moment ${moment} leaves no container`, {}, async () => {
        const { code, left } = await interrupt(moment, signal);
        expect({ code, left }).toEqual({ code: CODES[signal], left: [] });
      });
    }
  }

  dockerTest('that gets two signals ends at once and leaves no container', {}, async () => {
    const { code, tookMs, left } = await interrupt('output', 'SIGTERM', 'SIGTERM');
    expect({ code, left }).toEqual({ code: 143, left: [] });
    expect(tookMs).toBeLessThan(2_500);
  });
});
