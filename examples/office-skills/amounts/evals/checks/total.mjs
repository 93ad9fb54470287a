import { readFileSync } from 'node:fs';

const total = readFileSync('artifacts/total.csv', 'utf8').trim().split(',')[1];

export default { pass: total === '2723.40', reason: `the total is ${total}` };
