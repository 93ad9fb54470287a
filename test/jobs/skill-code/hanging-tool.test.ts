import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { Tool } from '../../../src/tools/define/tool.ts';
import { DEFAULT_LIMITS } from '../../../src/contracts/jobs/limits.ts';
import { createBackgroundWork } from '../../../src/jobs/supply/background-work.ts';
import { createSandboxSupply } from '../../../src/jobs/supply/sandbox-supply.ts';
import { createSkillCode } from '../../../src/jobs/skill-code/create-skill-code.ts';
import type { SkillCodeJob } from '../../../src/jobs/request/skill-code-source.ts';
import { sandboxLimits } from '../../../src/sandboxes/sandbox-limits.ts';
import { EVERY_LEVEL, everyRunner, requireEachLevel } from '../../fixtures/every-level.ts';
import { hostProcesses } from '../../fixtures/sandbox-leftovers.ts';
import { skillLibrary, skillText } from '../../fixtures/skill-library.ts';
import { until } from '../../fixtures/until.ts';

const library = skillLibrary({
  'hangs/SKILL.md': skillText({ name: 'hangs', description: 'Hangs.', toolsets: ['tools:Tools'] }, 'Body.'),
  'hangs/tools.mjs': `import { spawn } from 'node:child_process';
let calls = 0;
export const Tools = [
  { id: 'count', execute: () => (calls += 1) },
  { id: 'mark', execute({ name }) { spawn('bash', ['-c', 'exec -a ' + name + ' sleep 600'], { detached: true, stdio: 'ignore' }).unref(); } },
  { id: 'wait', execute: () => new Promise(() => setInterval(() => {}, 1000)) },
  { id: 'spin', execute: () => { for (;;); } },
];
`,
});
afterAll(() => library[Symbol.dispose]());

const unexpected = (error: unknown): never => {
  throw error;
};

describe.each(EVERY_LEVEL)('a tool of skill code that hangs at level %s', (isolation) => {
  beforeEach((context) => requireEachLevel(context, isolation));

  it('is ended with its whole sandbox when its time is over, and the next call gets a new sandbox', async () => {
    const runners = await everyRunner();
    const demand = {
      runners,
      allowUnisolated: true,
      pool: { size: 0 },
      skillCode: true,
      network: false,
      isBusy: () => false,
    };
    const supply = createSandboxSupply({ ...demand, onFailure: unexpected });
    const leaving = createBackgroundWork(unexpected);
    const limits = sandboxLimits(DEFAULT_LIMITS);
    const source = createSkillCode({ supply, leaving, limits, mode: 'sandbox', trustedRoots: [] });
    const skills = library.subsystem.skills.filter(({ id }) => id === 'custom.hangs');
    const job: SkillCodeJob = {
      jobId: 'job-1',
      request: { kind: 'exec', code: '', isolation },
      skills,
      readTree: (id) => library.subsystem.skillTree(id),
    };
    const live = new AbortController().signal;
    const tools = new Map((await source.tools(job, live)).map((tool): [string, Tool] => [tool.id, tool]));
    const opened = source.open(job);
    const name = `hang-mark-${Math.random().toString(36).slice(2)}`;
    const marked = (): number => hostProcesses().filter(({ command }) => command.startsWith(name)).length;
    const call = (tool: string, signal = live): Promise<unknown> =>
      tools
        .get(tool)
        ?.execute({ name }, { jobId: 'job-1', attempt: 1, context: undefined, signal }) as Promise<unknown>;
    try {
      expect([await call('count'), await call('count')]).toEqual([1, 2]);
      await call('mark');
      await until(() => marked() === 1, 'the process of the code');
      const beside = call('wait').catch((error: unknown) => error);
      await expect(call('spin', AbortSignal.timeout(1_000))).rejects.toMatchObject({ name: 'TimeoutError' });
      expect(await beside).toMatchObject({
        code: 'skill-code.failed',
        message: 'The code of custom.hangs failed: its tool spin took too long.',
      });
      expect(await call('count')).toBe(1);
      await until(() => marked() === 0, 'the end of the processes of the code');
    } finally {
      opened.close();
      source.close();
      await leaving.settled();
      await supply.close();
    }
  });
});
