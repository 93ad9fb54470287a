/** Rewrites the recordings of this example: with the current prompts, and the answers below. */
import { rmSync } from 'node:fs';
import type { ModelGateway } from '../../src/models/model-gateway.ts';
import { recordingGateway } from '../../src/models/recordings/recording-gateway.ts';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import { loadSkillsSubsystem } from '../../src/skills/index.ts';
import { officeSkills, questions } from './questions.ts';

const decision = (value: object): string => `\`\`\`skillcell-decision\n${JSON.stringify(value, null, 2)}\n\`\`\`\n`;

const PROGRAM = String.raw`import { readFileSync, writeFileSync } from 'node:fs';

function cents(text, line) {
  const mark = /[.,](?=\d\d$)/.exec(text)?.index ?? text.length;
  const whole = text.slice(0, mark).replace(/[.,]/g, '');
  const digits = whole + (text.slice(mark + 1) || '00');
  if (!/^\d+$/.test(digits)) throw new Error('invoices.csv, line ' + line + ': no amount, got ' + text);
  return Number(digits);
}

const owed = new Map();
const [, ...rows] = readFileSync('invoices.csv', 'utf8').trim().split('\n');
for (const [index, row] of rows.entries()) {
  const [, customer, amount] = /^([^,]*),[^,]*,"?([^"]*)"?$/.exec(row) ?? [];
  if (customer === undefined) throw new Error('invoices.csv, line ' + (index + 2) + ': no invoice, got ' + row);
  owed.set(customer, (owed.get(customer) ?? 0) + cents(amount, index + 2));
}
const late = [...owed].filter(([, sum]) => sum > 100_000).sort(([a], [b]) => (a < b ? -1 : 1));
const lines = late.map(([customer, sum]) => customer + ',' + (sum / 100).toFixed(2));
writeFileSync(process.env.SKILLCELL_OUTPUT + '/reminders.csv', ['customer,sum', ...lines, ''].join('\n'));
console.log(late.length + ' of ' + owed.size + ' customers owe more than 1,000.');
export default late.length;
`;

const ANSWERS = [
  [
    decision({ skills: ['SK1'] }),
    decision({
      action: 'codegen',
      task: 'Read invoices.csv (customer, due, amount; amounts in several notations), add up what each customer owes, and write those who owe more than 1,000.00 in all to reminders.csv as customer,sum, sorted by name.',
      outputs: ['reminders.csv'],
    }),
    `\`\`\`javascript\n${PROGRAM}\`\`\`\n`,
  ],
  [
    decision({ skills: ['SK2'] }),
    decision({
      action: 'text',
      text: 'With the name, "Dear Ada Meyer,", and a first sentence that takes it for an oversight: "It seems that our invoice of 1 October has escaped your notice."',
    }),
  ],
];

for (const [index, { job, recording }] of questions.entries()) {
  rmSync(recording, { force: true });
  let asked = 0;
  const author: ModelGateway = {
    id: 'recorded/answer',
    generate: async () => ({
      text: ANSWERS[index]?.[asked++] ?? '',
      model: 'recorded/answer',
      usage: { inputTokens: null, outputTokens: null },
      finishReason: 'stop',
    }),
  };
  const skills = loadSkillsSubsystem({ roots: [{ kind: 'user', path: officeSkills }] });
  const model = recordingGateway(author, recording);
  await using orchestrator = createOrchestrator({ skills, model, allowUnisolated: true });
  const result = await orchestrator.codegen(job);
  if (result.outcome === 'succeeded') continue;
  process.stderr.write(`${JSON.stringify(result, null, 2)}\n`);
  process.exitCode = 1;
}
