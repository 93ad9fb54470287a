import { type EgressPart, LIMITS } from './egress-scene.ts';
import { type ControlReport, measureControl } from './measure-control.ts';
import { measurementOf, numbersOf } from './measurement.ts';
import { takeTurns } from './take-turns.ts';

const NAME = 'control';
const ROUNDS = 5;
const COUNTS = { calls: 200, connections: 32 };

/** A call of a tool beside bulk connections of the same job, against the same in an idle job. */
export const egressControl: EgressPart = {
  names: [NAME],
  async rows({ group, scene, orchestrator, options }) {
    const run = `export default await measureControl(tools.x.echo, 'https://${scene.place}', ${JSON.stringify(COUNTS)});`;
    const code = `import { tools } from 'skillcell';\n${String(measureControl)}\n${run}`;
    const sample = async (): Promise<ControlReport> => {
      const job = { code, network: [scene.place], tools: ['x.echo'], limits: LIMITS };
      const { outcome, value, error } = await orchestrator.exec(job);
      if (outcome !== 'succeeded') throw new Error(`Cannot measure: the job did not succeed, got ${error?.message}.`);
      const report = value as ControlReport;
      options.progress(`${NAME}: ${JSON.stringify(report)}`);
      return report;
    };
    const id = `${group}.${NAME}`;
    const reports = (await takeTurns([{ id, sample }], options.samples ?? ROUNDS, options.progress)).get(id);
    const baseline = { id: `${id}.idle`, values: numbersOf(reports, ({ idleMs }) => idleMs) };
    const values = numbersOf(reports, ({ busyMs }) => busyMs);
    return [measurementOf({ id, unit: 'ms', goal: 'median ≤ 3 × idle + 2 ms', values, baseline })];
  },
};
