/** Measures a skill: the same tasks with and without it: `node examples/eval/eval.ts [--model PROVIDER/MODEL]`. */
import { parseArgs } from 'node:util';
import { createModelGateway } from '../../src/models/gateways/create-model-gateway.ts';
import { readModelSettings } from '../../src/models/gateways/model-environment.ts';
import { replayGateway } from '../../src/models/recordings/replay-gateway.ts';
import { evalTable } from '../../src/evals/report/eval-table.ts';
import { evaluateSkill } from '../../src/evals/evaluate-skill.ts';
import { amountsEval, amountsRecording } from './amounts-eval.ts';

const { values } = parseArgs({ options: { model: { type: 'string' } } });
const settings = values.model === undefined ? undefined : readModelSettings(values.model);
const model = settings === undefined ? replayGateway(amountsRecording) : createModelGateway(settings);

const report = await evaluateSkill({ ...amountsEval, model, orchestrator: { allowUnisolated: true } });
console.log(evalTable(report).join('\n'));
