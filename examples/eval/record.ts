/** Rewrites the recording of this example: with the current prompts, and the answers below. */
import { rmSync, writeFileSync } from 'node:fs';
import type { ModelGateway } from '../../src/models/model-gateway.ts';
import { recordingGateway } from '../../src/models/recordings/recording-gateway.ts';
import { evalTable } from '../../src/evals/report/eval-table.ts';
import { evaluateSkill } from '../../src/evals/evaluate-skill.ts';
import { amountsEval, amountsRecording } from './amounts-eval.ts';

/** Functions that turn an amount into cents: as in the skill, and as programs often do it. */
const EXACT = String.raw`function cents(text) {
  const mark = /[.,](?=\d\d$)/.exec(text)?.index ?? text.length;
  const whole = text.slice(0, mark).replace(/[.,]/g, '');
  return Number(whole + (text.slice(mark + 1) || '00'));
}`;
const NAIVE = String.raw`function cents(text) {
  return Math.round(parseFloat(text.replaceAll(',', '')) * 100);
}`;
const FRACTIONS = String.raw`function cents(text) {
  return parseFloat(text.replaceAll(',', '')) * 100;
}`;

const PROGRAMS = {
  owed: (cents: string) => String.raw`import { readFileSync } from 'node:fs';

${cents}

const owed = {};
const [, ...rows] = readFileSync('invoices.csv', 'utf8').trim().split('\n');
for (const row of rows) {
  const [, customer, amount] = /^([^,]*),[^,]*,"?([^"]*)"?$/.exec(row);
  owed[customer] = (owed[customer] ?? 0) + cents(amount);
}
console.log(rows.length + ' invoices of ' + Object.keys(owed).length + ' customers');
export default owed;
`,
  prices: (cents: string) => String.raw`import { readFileSync, writeFileSync } from 'node:fs';

${cents}

const [, ...rows] = readFileSync('prices.csv', 'utf8').trim().split('\n');
const total = rows.reduce((sum, row) => sum + cents(/^[^,]*,"?([^"]*)"?$/.exec(row)[1]), 0);
writeFileSync(process.env.SKILLCELL_OUTPUT + '/total.csv', 'total,' + (total / 100).toFixed(2) + '\n');
console.log('The total of ' + rows.length + ' prices is written.');
`,
};

/** Without the skill one program in five reads amounts correctly. */
const WITHOUT = [NAIVE, FRACTIONS, EXACT, NAIVE, NAIVE];
const asked = { owed: 0, prices: 0 };

const author: ModelGateway = {
  id: 'recorded/answer',
  async generate({ system, messages }) {
    const task = messages[0]?.content.includes('prices.csv') === true ? 'prices' : 'owed';
    const cents = system.includes('Count in cents') ? EXACT : (WITHOUT[asked[task]++] ?? NAIVE);
    const text = `\`\`\`javascript\n${PROGRAMS[task](cents)}\`\`\`\n`;
    const count = (texts: readonly string[]): number => Math.ceil(texts.join('').length / 4);
    const usage = {
      inputTokens: count([system, ...messages.map(({ content }) => content)]),
      outputTokens: count([text]),
    };
    return { text, model: 'recorded/answer', usage, finishReason: 'stop' };
  },
};

rmSync(amountsRecording, { force: true });
const report = await evaluateSkill({ ...amountsEval, model: recordingGateway(author, amountsRecording) });
writeFileSync(new URL('./table.txt', import.meta.url), `${evalTable(report).join('\n')}\n`);
