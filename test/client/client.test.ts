import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { connectService } from '../../src/client/connect-service.ts';
import { loadSkillTool } from '../../src/client/load-skill-tool.ts';
import type { ServiceClient } from '../../src/client/service-client.ts';
import type { JobEvent } from '../../src/contracts/jobs/events.ts';
import { packSkill } from '../../src/archives/pack-skill.ts';
import { programAnswer, scriptedModel } from '../fixtures/scripted-model.ts';
import { type ServiceScene, startService, uploadForm } from '../fixtures/service.ts';
import { createTeam } from '../fixtures/team-of-skills.ts';

let scene: ServiceScene;
let client: ServiceClient;
let folder: string;
beforeAll(async () => {
  scene = await startService({
    model: scriptedModel(['```javascript\nconsole.log(6 * 7);\n```', LOADS, DECISION, HAND_OVER, LOADS]),
  });
  client = connectService({ url: scene.url, token: scene.admin });
  folder = mkdtempSync(join(tmpdir(), 'skillcell-client-'));
});
afterAll(async () => {
  await client.close();
  await scene[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** A program of the model that loads a skill twice, and one that the team does not have. */
const LOADS = programAnswer(
  'javascript',
  `import { tools } from 'skillcell';
const load = (skill_name) => tools.load_skill({ skill_name }).catch(({ message }) => message);
for (const name of ['units', 'units', 'other']) console.log(await load(name));`,
);
const DECISION = '```skillcell-decision\n{ "skills": [] }\n```';
const HAND_OVER = '```skillcell-decision\n{ "action": "codegen", "task": "Load them." }\n```';

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
    expect(output).toEqual({
      type: 'output',
      jobId: job.jobId,
      stream: 'stdout',
      bytes: Buffer.from('42\n'),
      text: '42\n',
    });
    expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(['accepted', 'started', 'run']));
    const result = await job.result;
    expect(events.at(-1)).toEqual({ type: 'finished', jobId: result.jobId, result });
    expect([result.outcome, result.jobId]).toEqual(['succeeded', job.jobId]);
  });

  it('cancel() ends a job with its reason', async () => {
    const job = client.stream({ kind: 'exec', code: 'setInterval(() => {}, 1000)' });
    for await (const event of job)
      if (event.type === 'run') expect(await client.cancel(job.jobId, 'no longer needed')).toBe(true);
    const { outcome, error } = await job.result;
    expect([outcome, error?.message]).toEqual(['canceled', 'no longer needed']);
    expect([await client.cancel(job.jobId), await client.cancel('no-such-job'), await client.cancel('../me')]).toEqual([
      false,
      false,
      false,
    ]);
  });

  it('readArtifact() gives bytes and texts', async () => {
    const result = await client.exec({ code: WRITES, expect: ['bytes'] });
    expect(await client.readArtifact(result, 'a/b c.md', 'utf8')).toBe('# Done');
    expect(await client.readArtifact(result, 'bytes')).toEqual(Buffer.from([0, 255]));
    for (const path of ['a', '../stdout', ''])
      await expect(client.readArtifact(result, path)).rejects.toMatchObject({ code: 'file.unreadable' });
    await expect(client.readArtifact(result, 'bytes', 'hex' as 'utf8')).rejects.toMatchObject({
      code: 'options.invalid',
    });
  });

  it('script() runs a script of a skill', async () => {
    const bytes = (text: string): { bytes: Uint8Array; executable: boolean } => ({
      bytes: Buffer.from(text),
      executable: false,
    });
    const { archive } = await packSkill(
      'units',
      new Map([
        ['SKILL.md', bytes('---\nname: units\ndescription: Units in reports.\n---\nGive SI units.\n')],
        ['scripts/miles.mjs', bytes('console.log(process.argv[2] * 1.609344);\n')],
      ]),
      { store: true },
    );
    expect(
      (await scene.call('/skills/upload', { body: uploadForm({ bytes: archive, file: 'units.skill' }) })).status,
    ).toBe(201);
    const { stdout } = await client.script({ skill: 'custom.units', script: 'scripts/miles.mjs', args: ['26'] });
    expect(stdout.text.trim()).toBe('41.842944');
  });

  it('codegen() has a program written by the model of the service', async () => {
    const result = await client.codegen({ task: 'Print six times seven.' });
    expect([result.outcome, result.stdout.text.trim(), result.codegen?.attempts.length]).toEqual([
      'succeeded',
      '42',
      1,
    ]);
  });
});

describe('a job of a team', () => {
  it('has its skills, chooses among them unless told otherwise, and loads them while it runs', async () => {
    const team = await createTeam(scene, 'report', ['units']);
    const loaded =
      'Give SI units.\nThe skill "units" is already active.\nThere is no skill "other" here; there are custom.units.\n';
    const plain = await client.codegen({ task: 'Load them.', team, select: false });
    expect([plain.stdout.text, plain.decision]).toEqual([loaded, undefined]);
    const chosen = await client.codegen({ task: 'Load them.', team: 'report' });
    expect([chosen.stdout.text, chosen.decision?.action]).toEqual([loaded, 'codegen']);
    await expect(client.codegen({ task: '1', team: 'none' })).rejects.toMatchObject({ code: 'kind.reference-missing' });
    const exec = { code: '1', team: 'report' };
    await expect(client.exec(exec)).rejects.toMatchObject({ code: 'request.invalid' });
  });
});

describe('the fields of a job', () => {
  it('arrive as they are given, small files in JSON and large ones as a form', async () => {
    mkdirSync(join(folder, 'in/sub'), { recursive: true });
    writeFileSync(join(folder, 'in/sub/tool.sh'), '#!/bin/sh\n');
    chmodSync(join(folder, 'in/sub/tool.sh'), 0o755);
    symlinkSync('tool.sh', join(folder, 'in/sub/link'));
    const code = `import { readFileSync, statSync } from 'node:fs';
      console.log(JSON.stringify([
        readFileSync('text', 'utf8'), [...readFileSync('bytes')], (statSync('sub/sub/tool.sh').mode & 0o100) !== 0,
        statSync('large').size, readFileSync(0, 'latin1'), process.argv.slice(2), process.env.WORD,
      ]));`;
    const run = async (large: number): Promise<unknown> => {
      const result = await client.exec({
        ...{
          code,
          args: ['--x', 'é'],
          env: { WORD: 'wörd' },
          label: `large ${large}`,
          fileName: 'my.mjs',
          language: 'javascript',
        },
        stdin: Buffer.from([0xff, 10]),
        files: {
          ...{ text: '\ufefftext', bytes: Buffer.from([0, 255]), sub: { source: join(folder, 'in') } },
          large: Buffer.alloc(large),
        },
        ...{ limits: { runTimeoutMs: 60_000 }, tools: [], skills: { refs: [] } },
      });
      expect(result.stderr.text).toBe('');
      expect(result.diagnostics).toContainEqual(
        expect.objectContaining({ code: 'file.omitted', path: 'sub/sub/link' }),
      );
      return JSON.parse(result.stdout.text);
    };
    const seen = (large: number): unknown => ['\ufefftext', [0, 255], true, large, '\xff\n', ['--x', 'é'], 'wörd'];
    expect(await run(10)).toEqual(seen(10));
    expect(await run(3_000_000)).toEqual(seen(3_000_000));
    const { json } = await scene.call('/jobs?label=large%2010');
    expect(json.items).toHaveLength(1);
  });

  it('that the service cannot take are refused, and nothing is sent', async () => {
    const code = '1';
    const before = (await scene.call('/jobs')).json.items.length;
    for (const fields of [
      { jobId: 'a' },
      { runner: 'local' },
      { context: {} },
      { tools: [{ id: 'a.b', description: 'A.', execute: () => Promise.resolve(1) }] },
      { skills: { includeInternal: true } },
      { skills: { match: { session: { turn: () => undefined } } } },
    ])
      await expect(client.exec({ code, ...fields } as never), JSON.stringify(fields)).rejects.toMatchObject({
        code: 'options.invalid',
      });
    await expect(client.codegen({ task: '1', select: { model: 'a/b' } })).rejects.toMatchObject({
      code: 'options.invalid',
    });
    const value = z.object({ a: z.string() });
    await expect(client.codegen({ task: '1', outputs: { value } })).rejects.toMatchObject({ code: 'options.invalid' });
    await expect(client.exec({ code, limits: { memory: 1 } } as never)).rejects.toMatchObject({ code: 'job.invalid' });
    await expect(client.exec({ code, files: { a: { source: join(folder, 'none') } } })).rejects.toMatchObject({
      code: 'file.unreadable',
    });
    expect((await scene.call('/jobs')).json.items).toHaveLength(before);
  });

  it('output: artifacts are in the folder at the event finished, and never behind a link', async () => {
    const output = join(folder, 'out');
    mkdirSync(join(folder, 'elsewhere'));
    mkdirSync(output);
    symlinkSync(join(folder, 'elsewhere'), join(output, 'a'));
    const job = client.stream({ kind: 'exec', code: WRITES, output });
    let there = false;
    for await (const event of job) if (event.type === 'finished') there = existsSync(join(output, 'bytes'));
    const { artifacts, omitted } = await job.result;
    expect(there).toBe(true);
    expect(artifacts.map(({ path }) => path)).toEqual(['bytes']);
    expect(omitted).toEqual([{ path: 'a/b c.md', reason: expect.stringMatching(/^it cannot be written/) }]);
    expect([readdirSync(join(folder, 'elsewhere')), readdirSync(output).toSorted()]).toEqual([[], ['a', 'bytes']]);
    expect(readFileSync(join(output, 'bytes'))).toEqual(Buffer.from([0, 255]));
  });

  it('signal: an abort cancels the job at the service; before the job, nothing is sent', async () => {
    const stop = new AbortController();
    const job = client.stream({ kind: 'exec', code: 'setInterval(() => {}, 1000)', signal: stop.signal });
    for await (const event of job) if (event.type === 'run') stop.abort(new Error('enough'));
    const { outcome, error, jobId } = await job.result;
    expect([outcome, error?.message]).toEqual(['canceled', 'enough']);
    expect((await scene.call(`/jobs/${jobId}`)).json.outcome).toBe('canceled');
    const early = await client.exec({ code: '1', signal: AbortSignal.abort('too late') });
    expect([early.outcome, early.error?.message]).toEqual(['canceled', 'too late']);
    expect((await scene.call(`/jobs/${early.jobId}`)).status).toBe(404);
  });
});

describe('errors', () => {
  it('have the code of the service, also those of a job that could not run', async () => {
    await expect(client.script({ skill: 'custom.none', script: 'scripts/a.sh' })).rejects.toMatchObject({
      code: 'skills.reference-unknown',
    });
    const foreign = connectService({ url: `${scene.url}/api/v1/`, token: 'skc_wrong' });
    await expect(foreign.exec({ code: '1' })).rejects.toMatchObject({
      code: 'auth.required',
      hint: expect.stringContaining('Bearer'),
    });
    const job = foreign.stream({ kind: 'exec', code: '1' });
    const types: string[] = [];
    job.result.catch(() => undefined);
    for await (const { type } of job) types.push(type);
    expect(types).toEqual(['faulted']);
  });

  it('refuse an address that no service has', async () => {
    for (const url of ['127.0.0.1', 'ftp://a', 'http://user@a', 'http://a?b'])
      expect(() => connectService({ url, token: 'a' }), url).toThrow(
        expect.objectContaining({ code: 'options.invalid' }),
      );
    const answering = (status: number, text: string, type = 'text/html'): ServiceClient =>
      connectService({
        ...{ url: 'http://a', token: 'a', retryMs: 0 },
        fetch: () =>
          Promise.resolve(new Response(text, { status, headers: { 'content-type': type, location: 'http://b' } })),
      });
    for (const [status, text] of [
      [200, '<html>'],
      [302, ''],
      [403, '<html>'],
      [502, ''],
      [200, '{"id":"../x","errorCode":null}'],
    ] as const)
      await expect(answering(status, text).exec({ code: '1' }), String(status)).rejects.toMatchObject({
        code: 'service.unavailable',
      });
    const problem = JSON.stringify({ code: 'newer.code', detail: 'No.', hint: 'Do.' });
    await expect(answering(422, problem).exec({ code: '1' })).rejects.toMatchObject({
      code: 'request.invalid',
      message: 'No.',
      hint: 'Do.',
    });
  });

  it('close() cancels the jobs of the client, and refuses new ones', async () => {
    const other = connectService({ url: scene.url, token: scene.admin });
    const job = other.stream({ kind: 'exec', code: 'setInterval(() => {}, 1000)' });
    for await (const event of job) if (event.type === 'run') void other.close();
    expect((await job.result).outcome).toBe('canceled');
    await other.close();
    await expect(other.exec({ code: '1' })).rejects.toMatchObject({ code: 'orchestrator.closed' });
  });
});

describe('loadSkillTool()', () => {
  it('gives the prompt once, and then says that the skill is active', async () => {
    const tool = loadSkillTool(client);
    const load = (name: string): unknown =>
      tool.execute?.({ skill_name: name }, { toolCallId: '1', messages: [], context: {} } as never);
    expect(await load('units')).toBe('Give SI units.');
    const ofTeam = loadSkillTool(client, { team: 'report' });
    expect(await ofTeam.execute?.({ skill_name: 'units' }, {} as never)).toBe('Give SI units.');
    expect(await load('units')).toBe('The skill "units" is already active.');
    await expect(load('none')).rejects.toMatchObject({
      code: 'resource.not-found',
      message: expect.stringContaining('(resource.not-found)'),
    });
    await expect(
      Promise.resolve(loadSkillTool(client, { team: 99 }).execute?.({ skill_name: 'units' }, {} as never)),
    ).rejects.toMatchObject({ code: 'resource.not-found' });
  });
});
