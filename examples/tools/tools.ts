/** A program that uses tools of its host, one of which needs approval: `node examples/tools/tools.ts`. */
import { defineTool } from '../../src/tools/define/tool.ts';
import { ToolError } from '../../src/tools/define/tool-errors.ts';
import * as z from 'zod';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';

const stock = new Map([
  ['paper', { cents: 450, left: 12 }],
  ['toner', { cents: 8_900, left: 1 }],
]);
const orders: string[] = [];

const price = defineTool({
  id: 'shop.price',
  description: 'Gives the price of an article in cents, and how many are left.',
  input: z.strictObject({ article: z.string().max(40) }),
  output: z.strictObject({ cents: z.number(), left: z.number() }),
  effect: 'read',
  async execute({ article }) {
    const row = stock.get(article);
    if (row === undefined) throw new ToolError(`There is no article ${article}.`);
    return row;
  },
});
const order = defineTool({
  id: 'shop.order',
  description: 'Orders articles. The office has to approve each order.',
  input: z.strictObject({ article: z.string().max(40), count: z.int().min(1).max(100) }),
  approval: 'always',
  async execute({ article, count }, { context }) {
    const { user } = context as { user: string };
    return { number: orders.push(`${count} × ${article} for ${user}`) };
  },
});

await using orchestrator = createOrchestrator({
  tools: [price, order],
  allowUnisolated: true,
  // A real host would ask a person of the office here; this one applies a rule.
  async approve({ tool, input, context }) {
    const { article, count } = input as { article: string; count: number };
    const { limitCents } = context as { limitCents: number };
    const cents = count * (stock.get(article)?.cents ?? Infinity);
    console.log(`asked: ${tool} ${count} × ${article}, ${cents} cents`);
    return cents <= limitCents ? { allow: true } : { allow: false, reason: `over ${limitCents} cents` };
  },
});
const result = await orchestrator.exec({
  tools: ['shop.*'],
  context: { user: 'ada', limitCents: 5_000 },
  code: `import { tools } from 'skillcell';
for (const article of ['paper', 'toner', 'gold']) {
  try {
    const { left } = await tools.shop.price({ article });
    const { number } = await tools.shop.order({ article, count: Math.min(left, 10) });
    console.log(article, 'order', number);
  } catch ({ code, message }) {
    console.log(article, code, '-', message);
  }
}`,
});
console.log(result.stdout.text.trim());
console.log(`done: ${orders.join(', ')}`);
for (const [name, { calls, failed }] of Object.entries(result.callTotals)) console.log(`${name}: ${calls} calls, ${failed} failed`);
