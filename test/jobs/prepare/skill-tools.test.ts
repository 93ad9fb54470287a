import { expect, it } from 'vitest';
import { withSkillTools } from '../../../src/jobs/prepare/skill-tools.ts';
import type { SkillCodeJob, SkillCodeSource } from '../../../src/jobs/request/skill-code-source.ts';

const job = { jobId: 'j', skills: [{ id: 'custom.slow' }, { id: 'custom.kit' }] } as unknown as SkillCodeJob;

it('code of skills that does not load within the time of the job ends it, with the ids of the skills', async () => {
  const skillCode = { tools: () => new Promise<never>(() => undefined) } as unknown as SkillCodeSource;
  await expect(withSkillTools([], job, { skillCode }, 20)).rejects.toMatchObject({
    code: 'skill-code.load-failed',
    message: expect.stringContaining('within jobTimeoutMs, 20 ms, got custom.slow, custom.kit.') as string,
  });
});
