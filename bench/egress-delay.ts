import { spawn } from 'node:child_process';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { text } from 'node:stream/consumers';
import { type EgressPart, type EgressSurroundings, LIMITS, SECRET } from './egress-scene.ts';
import { measurementOf, type Measurement, numbersOf } from './measurement.ts';
import { takeTurns } from './take-turns.ts';

const ROUNDS = 3;
/** Size of the download. */
const DOWNLOAD_MIB = 1024;
const CALLS = `import { tools } from 'skillcell';\nfor (;;) await tools.x.echo({});`;
/** A process that has nothing to do: its delays are those of the machine. Prints them when its stdin ends. */
const BARE = `const delay = require('node:perf_hooks').monitorEventLoopDelay({ resolution: 1 });
delay.enable();
process.stdin.on('end', () => {
  delay.disable();
  console.log(JSON.stringify({ p99: delay.percentile(99) / 1e6, max: delay.max / 1e6 }));
}).resume();`;

/** Delays of an event loop in milliseconds. */
interface Delays {
  p99: number;
  max: number;
}

/** The host's event loop while one job downloads 1 GiB and another calls a tool, against that of a bare process at the same time. */
export const egressDelay: EgressPart = {
  names: ['delay', 'delay.max', 'delay.wash', 'delay.wash.max'],
  async rows(around) {
    const { group, options } = around;
    const sides: Record<string, string[]> = { delay: [], 'delay.wash': [SECRET] };
    const subjects = Object.entries(sides).map(([id, secrets]) => ({
      id,
      async sample() {
        const report = await delaysBeside(around, secrets);
        options.progress(`${id}: ${JSON.stringify(report)}`);
        return report;
      },
    }));
    const turns = await takeTurns(subjects, options.samples ?? ROUNDS, options.progress);
    return Object.keys(sides).flatMap((side) => {
      const reports = turns.get(side);
      const row = (id: string, key: keyof Delays, goal: string): Measurement =>
        measurementOf({
          ...{ id, unit: 'ms', goal, values: numbersOf(reports, ({ host }) => host[key]) },
          baseline: { id: `${id}.bare`, values: numbersOf(reports, ({ bare }) => bare[key]) },
        });
      const id = `${group}.${side}`;
      return [row(id, 'p99', 'median < 50 ms'), row(`${id}.max`, 'max', 'p95 < 250 ms')];
    });
  },
};

/** The delays from the start of a job that downloads to its end, while another job calls a tool without a pause. */
async function delaysBeside(
  { orchestrator, scene: { place } }: EgressSurroundings,
  secrets: string[],
): Promise<{ host: Delays; bare: Delays }> {
  const code = `let bytes = 0;
for await (const chunk of (await fetch('https://${place}/bulk/${DOWNLOAD_MIB}')).body) bytes += chunk.length;
if (bytes !== ${DOWNLOAD_MIB * 1024 * 1024}) throw new Error(bytes + ' bytes arrived');`;
  const bare = spawn(process.execPath, ['-e', BARE], { stdio: ['pipe', 'pipe', 'inherit'] });
  const printed = text(bare.stdout);
  const stop = new AbortController();
  const calling = orchestrator.exec({ code: CALLS, tools: ['x.echo'], limits: LIMITS, signal: stop.signal });
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const downloaded = await orchestrator.exec({ code, network: [place], secrets, limits: LIMITS });
  delay.disable();
  stop.abort();
  bare.stdin.end();
  const called = await calling;
  if (downloaded.outcome !== 'succeeded' || called.outcome !== 'canceled') {
    const reason = downloaded.error?.message ?? called.error?.message;
    throw new Error(`Cannot measure: a job did not end as expected, got ${reason}.`);
  }
  const host = { p99: delay.percentile(99) / 1e6, max: delay.max / 1e6 };
  return { host, bare: JSON.parse(await printed) as Delays };
}
