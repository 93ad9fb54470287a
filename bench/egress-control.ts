import { type EgressPart, LIMITS } from './egress-scene.ts';
import { type ControlReport, measureControl } from './measure-control.ts';
import { measurementOf, type Taken } from './measurement.ts';
import { takeTurns } from './take-turns.ts';

const NAME = 'control';
const ROUNDS = 5;
const COUNTS = { calls: 200, connections: 32 };

/** A call of a tool beside bulk connections of the same job, against the same in an idle job. */
export const egressControl: EgressPart = {
  names: [NAME],
  async rows({ group, scene, orchestrator, options }) {
    const reports: ControlReport[] = [];
    const run = `export default await measureControl(tools.x.echo, 'https://${scene.place}', ${JSON.stringify(COUNTS)});`;
    const code = `import { tools } from 'skillcell';\n${String(measureControl)}\n${run}`;
    const sample = async (): Promise<number> => {
      const job = { code, network: [scene.place], tools: ['x.echo'], limits: LIMITS };
      const { outcome, value, error } = await orchestrator.exec(job);
      if (outcome !== 'succeeded') throw new Error(`Cannot measure: the job did not succeed, got ${error?.message}.`);
      const report = value as ControlReport;
      reports.push(report);
      options.progress(`${NAME}: ${JSON.stringify(report)}`);
      return 0;
    };
    const id = `${group}.${NAME}`;
    const turns = (await takeTurns([{ id, sample }], options.samples ?? ROUNDS, options.progress)).get(id) ?? [];
    const column = (key: keyof ControlReport): Taken =>
      'failed' in turns ? turns : reports.slice(-turns.length).map((report) => report[key]);
    const baseline = { id: `${id}.idle`, values: column('idleMs') };
    return [measurementOf({ id, unit: 'ms', goal: 'median ≤ 3 × idle + 2 ms', values: column('busyMs'), baseline })];
  },
};
