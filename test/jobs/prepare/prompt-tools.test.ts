import { afterAll, expect, it } from 'vitest';
import * as z from 'zod';
import { defineTool } from '../../../src/tools/define/tool.ts';
import type { CodegenOptions } from '../../../src/contracts/jobs/job.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import { MISSING_PYTHON, requireHere } from '../../fixtures/describe-with.ts';
import { skillLibrary, skillText } from '../../fixtures/skill-library.ts';

const library = skillLibrary({
  'needs/SKILL.md': skillText({ name: 'needs', description: 'Needs a tool.', import: ['custom.base'] }, 'Look it up.'),
  'needs/tools.yaml':
    'tools: [{ id: crm.find, role: lookup, why: "Knows */ the\\ncustomers." }, { id: crm.drop, why: No. }]',
  'base/SKILL.md': skillText({ name: 'base', description: 'Base.' }, 'Base.'),
  'base/tools.yaml': 'tools: [crm.find, { id: crm.find, role: proof }]',
});
const find = defineTool({
  id: 'crm.find',
  description: 'Finds customers. By name.',
  input: z.strictObject({ name: z.string().describe('Part of the name.'), limit: z.int().min(1).default(20) }),
  output: z.array(z.object({ since: z.number() })),
  execute: async () => [],
});
const drop = defineTool({ id: 'crm.drop', description: 'Drops one.', execute: async () => null });
const orchestrator = createOrchestrator({ skills: library.subsystem, tools: [find, drop] });
afterAll(async () => {
  await orchestrator.close();
  library[Symbol.dispose]();
});

async function promptOf(options: Partial<CodegenOptions>): Promise<string> {
  const { value } = await orchestrator.codegen({ task: 'T.', dryRun: true, isolation: 'none', ...options });
  const { messages } = value as { messages: { content: string }[] };
  return (messages[0]?.content ?? '').split('There are no input files.\n').at(-1) ?? '';
}

it.each(['javascript', 'typescript'])(
  'a %s prompt declares the tools, with the remarks of active skills',
  async (language) => {
    expect(await promptOf({ language, tools: ['crm.find'], skills: { refs: ['custom.needs'] } })).toBe(`
Tools that the program may call, as they are declared:
\`\`\`typescript
declare module 'skillcell' {
  export const tools: {
    crm: {
      /**
       * Finds customers. By name.
       * For custom.base (proof)
       * For custom.needs (lookup): Knows *\\/ the customers.
       */
      find(input: {
        /** Part of the name. */
        name: string;
        /** (a whole number, minimum 1, default 20) */
        limit?: number;
      }): Promise<{ since: number }[]>;
    };
  };
}
\`\`\`
`);
  },
);

it('a Python prompt declares tools in Python, and only names them above the budget', async (context) => {
  requireHere(context, MISSING_PYTHON);
  const whole = await promptOf({ language: 'python', tools: ['crm.*'] });
  expect(whole).toContain(
    '\n```python\nclass CrmFindResultItem(TypedDict):\n    since: float\nclass tools:\n    class crm:\n',
  );
  expect(whole).toContain('            limit: int = ...,\n        ) -> list[CrmFindResultItem]: ...\n');
  expect(await promptOf({ language: 'python', tools: ['crm.*'], toolBudgetTokens: 50 })).toBe(`
Tools that the program may call, by their ids: they are too many to be declared here:
\`\`\`python
# crm.find: Finds customers.
# crm.drop: Drops one.
\`\`\`
`);
});

it('a prompt without tools has no section of tools', async () => {
  expect(await promptOf({})).toBe('');
});

it('a language that cannot call tools has none', async () => {
  expect(await promptOf({ language: 'bash' })).toBe('');
  await expect(promptOf({ language: 'bash', tools: ['crm.*'] })).rejects.toMatchObject({
    code: 'job.invalid',
    message: expect.stringContaining('tools cannot be called from bash, got "crm.find", "crm.drop"') as string,
  });
});

it.each([0, 1.5, Number.NaN, 'many', 1_000_001])('a budget of %s is refused', async (toolBudgetTokens) => {
  await expect(promptOf({ toolBudgetTokens: toolBudgetTokens as number })).rejects.toMatchObject({
    code: 'job.invalid',
    message: expect.stringContaining('toolBudgetTokens must be a whole number from 1 to 1000000, got '),
  });
});
