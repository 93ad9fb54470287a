/**
 * An agent of the AI SDK. Its model loads a skill and writes a program that calls a tool twelve times; the model itself reads none of the rows: `node
 * examples/ai-sdk/agent.ts`. A local stand-in replaces the model's service.
 */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { isStepCount, tool, ToolLoopAgent } from 'ai';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { createSandboxTools } from '../../src/ai/index.ts';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import { loadSkillsSubsystem } from '../../src/skills/index.ts';
import { startStandIn, type Asked } from './stand-in.ts';

const root = fileURLToPath(new URL('../office-skills', import.meta.url));
const skills = loadSkillsSubsystem({ roots: [{ kind: 'user', path: root }] });

const program = `import { tools } from 'skillcell';
const months = Array.from({ length: 12 }, (_, index) => index + 1);
const sold = await Promise.all(months.map((month) => tools.sales({ year: 2024, month })));
const sums = sold.map(({ cents }) => cents.reduce((sum, each) => sum + each, 0));
const best = sums.indexOf(Math.max(...sums));
console.log('rows read:', sold.flatMap(({ cents }) => cents).length);
export default { month: months[best], cents: sums[best] };`;

await using service = await startStandIn([
  () => ({ tool: 'load_skill', input: { skill: 'custom.amounts' } }),
  ({ tools }) => {
    console.log('the model may call:', tools.map(({ function: { name } }) => name).join(', '));
    const declared = tools.find(({ function: { name } }) => name === 'run_code')?.function.description;
    console.log('and its programs:', declared?.match(/\w+(?=\(input: )/g)?.join(', '));
    return { tool: 'run_code', input: { code: program } };
  },
  (asked) => {
    const { month, cents } = lastValue(asked);
    return `The best month was ${month}, with ${(cents / 100).toFixed(2)}.`;
  },
]);
const model = createOpenAICompatible({ name: 'stand-in', baseURL: service.baseURL })('stand-in');

let calls = 0;
const sales = tool({
  description: 'Gives what was sold in a month, in cents, a number for each sale.',
  inputSchema: z.object({ year: z.number(), month: z.int().min(1).max(12) }),
  outputSchema: z.object({ cents: z.array(z.number()) }),
  async execute({ month }) {
    calls += 1;
    const more = month === 7 ? 500 : 0;
    return { cents: Array.from({ length: 1_000 }, (_, row) => ((row * month * 7_919) % 1_000) + more) };
  },
});

await using orchestrator = createOrchestrator({ skills, allowUnisolated: true });
const agent = new ToolLoopAgent({
  model,
  tools: { ...createSandboxTools(orchestrator), sales },
  // Only programs may call this tool, not the model.
  experimental_toolCallers: { sales: ['run_code'] },
  stopWhen: isStepCount(6),
});
const { text, steps } = await agent.generate({ prompt: 'What was the best month of 2024?' });
for (const { toolName, output } of steps.flatMap(({ toolResults }) => toolResults)) {
  const printed = toolName === 'run_code' ? [JSON.stringify((output as { stdout: string }).stdout)] : [];
  console.log(toolName, ...printed);
}
console.log(`calls of sales: ${calls}`);
console.log(text);

/** The program's value, from the message that the model reads. */
function lastValue({ messages }: Asked): { month: number; cents: number } {
  return (JSON.parse(messages.at(-1)?.content ?? '') as { value: { month: number; cents: number } }).value;
}
