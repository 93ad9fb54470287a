import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import { SHARED_LEVELS, requireLevel } from '../../fixtures/levels.ts';
import { skillLibrary, skillText } from '../../fixtures/skill-library.ts';

/** The example of the documentation of toolsets. */
const HELLO = `import { z } from 'zod';
import { Tool } from '@agent/tools';

export const myTool = Tool.define('my-tool', {
  description: 'Does something useful',
  parameters: z.object({
    input: z.string(),
  }),
  execute: async (args, ctx) => ({
    title: 'Completed',
    metadata: {},
    output: \`Processed: \${args.input}\`,
  }),
});

export const MyToolset = [myTool];
`;

const library = skillLibrary({
  'hello/SKILL.md': skillText({ name: 'hello', description: 'Hello.', toolsets: ['toolsets/index:MyToolset'] }, 'Hi.'),
  'hello/toolsets/index.ts': HELLO,
});
const orchestrator = createOrchestrator({ skills: library.subsystem });
afterAll(async () => {
  await orchestrator.close();
  library[Symbol.dispose]();
});

describe.each(SHARED_LEVELS)('a toolset of a skill at level %s', (isolation) => {
  beforeEach((context) => requireLevel(context, isolation));

  it('gives its tools to a job that asks for them, in a sandbox of its own', async () => {
    const result = await orchestrator.exec({
      isolation,
      skills: { refs: ['custom.hello'] },
      tools: ['my-tool'],
      code: `import { tools } from 'skillcell'; export default await tools.call('my-tool', { input: 'x' });`,
    });
    expect(result.stderr.text).toBe('');
    expect(result.value).toEqual({ title: 'Completed', metadata: {}, output: 'Processed: x' });
  });
});
