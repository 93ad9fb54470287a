import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectService } from '../../src/client/connect-service.ts';
import { loadSkillTool } from '../../src/client/load-skill-tool.ts';
import type { ServiceClient } from '../../src/client/service-client.ts';
import type { JobEvent } from '../../src/contracts/jobs/events.ts';
import { type ServiceScene, startService, uploadForm } from '../fixtures/service.ts';
import { packSkillForm } from '../../src/registry/skills/upload-skill.ts';

let scene: ServiceScene;
let client: ServiceClient;
let folder: string;
beforeAll(async () => {
  scene = await startService();
  client = connectService({ url: scene.url, token: scene.admin });
  folder = mkdtempSync(join(tmpdir(), 'skillcell-client-'));
});
afterAll(async () => {
  await client.close();
  await scene[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** A program that writes two artifacts. */
const WRITES = `import { mkdirSync, writeFileSync } from 'node:fs';
const out = process.env.SKILLCELL_OUTPUT;
mkdirSync(out + '/a');
writeFileSync(out + '/a/b c.md', '# Done');
writeFileSync(out + '/bytes', Buffer.from([0, 255]));`;

describe('the examples of the orchestrator', () => {
  it('exec() tells the error of a program', async () => {
    const { outcome, exitCode, error } = await client.exec({
      code: "import { readFileSync } from 'node:fs';\nthrow new Error(readFileSync('note.txt', 'utf8'));",
      files: { 'note.txt': 'no such month' },
    });
    expect([outcome, exitCode, error?.message, error?.line]).toEqual(['failed', 1, 'no such month', 2]);
  });

  it('stream() gives the output, and then the result', async () => {
    const job = client.stream({ kind: 'exec', code: 'console.log(6 * 7)' });
    expect(job.jobId).toBe('');
    const events: JobEvent[] = [];
    for await (const event of job) events.push(event);
    const output = events.find((event) => event.type === 'output');
    expect(output).toEqual({ type: 'output', jobId: job.jobId, stream: 'stdout', bytes: Buffer.from('42\n'), text: '42\n' });
    expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(['accepted', 'started', 'run']));
    const result = await job.result;
    expect(events.at(-1)).toEqual({ type: 'finished', jobId: result.jobId, result });
    expect([result.outcome, result.jobId]).toEqual(['succeeded', job.jobId]);
  });

  it('cancel() ends a job with its reason', async () => {
    const job = client.stream({ kind: 'exec', code: 'setInterval(() => {}, 1000)' });
    for await (const event of job) if (event.type === 'run') expect(await client.cancel(job.jobId, 'no longer needed')).toBe(true);
    const { outcome, error } = await job.result;
    expect([outcome, error?.message]).toEqual(['canceled', 'no longer needed']);
    expect([await client.cancel(job.jobId), await client.cancel('no-such-job'), await client.cancel('../me')]).toEqual([false, false, false]);
  });

  it('readArtifact() gives bytes and texts', async () => {
    const result = await client.exec({ code: WRITES, expect: ['bytes'] });
    expect(await client.readArtifact(result, 'a/b c.md', 'utf8')).toBe('# Done');
    expect(await client.readArtifact(result, 'bytes')).toEqual(Buffer.from([0, 255]));
    for (const path of ['a', '../stdout', ''])
      await expect(client.readArtifact(result, path)).rejects.toMatchObject({ code: 'file.unreadable' });
    await expect(client.readArtifact(result, 'bytes', 'hex' as 'utf8')).rejects.toMatchObject({ code: 'options.invalid' });
  });

  it('script() runs a script of a skill', async () => {
    const { packSkill } = await import('../../src/archives/pack-skill.ts');
    const bytes = (text: string): { bytes: Uint8Array; executable: boolean } => ({ bytes: Buffer.from(text), executable: false });
    const { archive } = await packSkill('units', new Map([
      ['SKILL.md', bytes('---\nname: units\ndescription: Units in reports.\n---\nGive SI units.\n')],
      ['scripts/miles.mjs', bytes('console.log(process.argv[2] * 1.609344);\n')],
    ]), { store: true });
    expect((await scene.call('/skills/upload', { body: uploadForm({ bytes: archive, file: 'units.skill' }) })).status).toBe(201);
    const { stdout } = await client.script({ skill: 'custom.units', script: 'scripts/miles.mjs', args: ['26'] });
    expect(stdout.text.trim()).toBe('41.842944');
  });
});
