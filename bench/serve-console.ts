import { existsSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { type ConsoleScene, startConsole } from '../test/fixtures/console.ts';
import { CHROMIUM } from '../test/fixtures/describe-with.ts';
import type { BenchmarkOptions } from './benchmark-group.ts';
import { failedMeasurement, measurementOf, type Measurement, numbersOf } from './measurement.ts';
import type { ServePart } from './serve-scene.ts';
import { takeTurns } from './take-turns.ts';

const SIZE = 'console.size';
const TAIL = 'console.tail';
const ROUNDS = 5;
const KIB = 1024;
const LINES = 20_000;
/** Writes 2,000 lines a second, for ten seconds. */
const PROGRAM = `const started = performance.now();
for (let at = 0; at < ${LINES};) {
  const until = Math.min(${LINES}, (performance.now() - started) * 2);
  let text = '';
  for (; at < until; at += 1) text += 'line ' + at + ' of a \\x1b[32mprogram\\x1b[0m\\n';
  process.stdout.write(text);
  await new Promise((resolve) => setTimeout(resolve, 10));
}`;
/** The page keeps its longest task, in milliseconds; the browser tells of those of more than 50. */
const WATCH_TASKS = `globalThis.longestTask = 0;
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) globalThis.longestTask = Math.max(globalThis.longestTask, duration);
}).observe({ type: 'longtask' });`;

/** The console in a browser: the size of its first page, and a page that shows fast output. */
export const serveConsole: ServePart = {
  ids: [SIZE, TAIL],
  async rows(_scene, options) {
    if (!existsSync(CHROMIUM)) return [SIZE, TAIL].map((id) => failedMeasurement(id, `${CHROMIUM} is missing`));
    await using scene = await startConsole();
    return [
      ...(options.wants(SIZE) ? [await sizeRow(scene)] : []),
      ...(options.wants(TAIL) ? [await tailRow(scene, options)] : []),
    ];
  },
};

/** All answers that the first page loads, each by itself as gzip. */
async function sizeRow({ open }: ConsoleScene): Promise<Measurement> {
  const { page } = await open();
  await page.getByText('No jobs.').waitFor();
  const answers: Promise<Buffer>[] = [];
  page.on('response', (answer) => answers.push(answer.body()));
  await page.reload({ waitUntil: 'networkidle' });
  const bodies = await Promise.all(answers);
  const sum = (sizeOf: (body: Buffer) => number): number => bodies.reduce((all, body) => all + sizeOf(body), 0) / KIB;
  return measurementOf({
    ...{ id: SIZE, unit: 'KiB', goal: 'median ≤ 260 KiB', values: [sum((body) => gzipSync(body).length)] },
    baseline: { id: 'plain', values: [sum(({ length }) => length)] },
  });
}

/** The longest task of the page while it shows output, and while it was opened before. */
async function tailRow(scene: ConsoleScene, { samples = ROUNDS, progress }: BenchmarkOptions): Promise<Measurement> {
  const sample = async (): Promise<{ opened: number; shown: number }> => {
    const { json } = await scene.service.call('/jobs', { body: { kind: 'exec', code: PROGRAM } });
    const { page } = await scene.open({ path: '/tokens' });
    await page.addInitScript(WATCH_TASKS);
    await page.goto(`/jobs/${json.id}`);
    await page.getByText('of a program').first().waitFor();
    const opened = await page.evaluate<number>('longestTask');
    await page.evaluate('longestTask = 0');
    await page.getByText(`${LINES} lines`).waitFor();
    await page.getByRole('status').getByText('succeeded').waitFor();
    const shown = await page.evaluate<number>('longestTask');
    await page.context().close();
    return { opened, shown };
  };
  const values = await takeTurns([{ id: TAIL, sample }], samples, progress);
  return measurementOf({
    ...{ id: TAIL, unit: 'ms', goal: 'median ≤ 200 ms', values: numbersOf(values.get(TAIL), ({ shown }) => shown) },
    baseline: { id: 'opening', values: numbersOf(values.get(TAIL), ({ opened }) => opened) },
  });
}
