/**
 * Kills hosts at random points and checks from outside that no job is lost or run twice and no leftovers remain: `npm run chaos -- --kills 200
 * [--seed N] [--runner local|docker|both]`.
 */
import { parseArgs } from 'node:util';
import { runChaos } from '../test/chaos/referee.ts';
import type { ChaosRunner } from '../test/chaos/host-words.ts';
import { buildImage } from '../src/sandboxes/docker/build/build-image.ts';
import { connectEngine } from '../src/sandboxes/docker/engine/engine.ts';
import { findImage } from '../src/sandboxes/docker/build/image.ts';
import { ensureRuntime } from '../src/sandboxes/runtime-bundle.ts';

const RUNNERS = ['local', 'docker', 'both'];
const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    seed: { type: 'string', default: `${Date.now() % 1_000_000}` },
    runner: { type: 'string', default: 'both' },
  },
});
const kills = Number(values.kills);
const seed = Number(values.seed);
if (!Number.isSafeInteger(kills) || kills < 1 || !Number.isSafeInteger(seed) || !RUNNERS.includes(values.runner)) {
  process.stderr.write(
    'Cannot start: the usage is `npm run chaos -- --kills N [--seed N] [--runner local|docker|both]`.\n',
  );
  process.exit(2);
}
const runner = values.runner as ChaosRunner;
const say = (line: string): void => void process.stderr.write(`${line}\n`);
const bundle = await ensureRuntime();
const engine = runner === 'local' ? undefined : await connectEngine();
if (engine !== undefined) {
  try {
    await findImage(engine, 'slim', bundle.digest);
  } catch {
    // The image is missing or has another runtime.
    await buildImage(engine, { flavor: 'slim', bundle, onProgress: say });
  }
}

say(`runner ${runner}, seed ${seed}`);
const { folder, ...report } = await runChaos({ kills, seed, runner, bundle, engine, onProgress: say });
process.stdout.write(`${JSON.stringify({ runner, seed, ...report }, null, 2)}\n`);
if (report.violations.length > 0) {
  say(`${report.violations.length} violations; the remaining files are in ${folder}`);
  process.exitCode = 1;
}
