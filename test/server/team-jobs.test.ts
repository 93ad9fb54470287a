import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openaiCompatibleGateway } from '../../src/models/gateways/create-model-gateway.ts';
import { describeDatabases } from '../fixtures/databases.ts';
import { type ModelStandIn, startModelStandIn } from '../fixtures/model-stand-in.ts';
import { skillArchive } from '../fixtures/registry/skill-archive.ts';
import { programAnswer } from '../fixtures/scripted-model.ts';
import { type Answer, type ServiceScene, startService, uploadForm } from '../fixtures/service.ts';
import { createKind, createTeam } from '../fixtures/team-of-skills.ts';
import { until } from '../fixtures/until.ts';

const block = (value: object): string => `\`\`\`skillcell-decision\n${JSON.stringify(value)}\n\`\`\``;
const choose = (skills: string[]): string[] => [
  block({ skills }),
  block({ action: 'codegen', task: 'Write the report.' }),
];
/** A program that loads skills by these names, and hands back the texts and the errors. */
const loads = (...names: string[]): string =>
  programAnswer(
    'javascript',
    `import { tools } from 'skillcell';
const texts = [];
for (const skill_name of ${JSON.stringify(names)})
  texts.push(await tools.load_skill({ skill_name }).catch(({ code, message }) => [code, message]));
export default texts;`,
  );
const toolset = {
  name: 'ruler/tools.mjs',
  content: "export const Tools = [{ id: 'length', description: 'A length.', execute: ({ of }) => of.length }];",
};
const source = (name: string): { name: string; content: string } => ({
  name: `${name}/sources.yaml`,
  content: `- sid: 1\n  url: https://${name}.example/\n  title: T\n`,
});

describeDatabases('a job of a team', (make) => {
  let scene: ServiceScene;
  let model: ModelStandIn;
  let answers: string[];
  let token: string;
  let teamId: number;

  const call = (path: string, options: Parameters<ServiceScene['call']>[1] = {}): Promise<Answer> =>
    scene.call(path, { token, ...options });
  /** Runs a job to its end, with these answers of the model. */
  const run = async (given: object, ...script: string[]): Promise<Answer> => {
    answers = script;
    const body = { kind: 'codegen', task: 'Report.', maxAttempts: 1, ...given };
    return await call('/jobs', { body, headers: { prefer: 'wait=60' } });
  };

  beforeAll(async () => {
    model = await startModelStandIn(() => answers.shift() ?? { status: 500, message: 'no answer left' });
    const settings = { provider: 'openai-compatible' as const, model: 'm', baseUrl: model.baseUrl, apiKey: 'key' };
    const { url } = make();
    scene = await startService({
      model: openaiCompatibleGateway(settings, { retry: { tries: 1, baseDelayMs: 1 } }),
      concurrency: 1,
      ...(url === undefined ? {} : { databaseUrl: url }),
    });
    ({ token } = await scene.user('lead'));
    const upload = async (
      name: string,
      fields: Record<string, unknown>,
      content: { body: string; others?: { name: string; content: string }[] },
    ): Promise<void> => {
      const { status, text } = await call('/skills/upload', { body: uploadForm(skillArchive(name, fields, content)) });
      expect([name, status, text]).toEqual([name, 201, expect.any(String)]);
    };
    await scene.call('/skills/public', { body: { name: 'house', description: 'House.', prompt: 'PUBLIC HOUSE' } });
    await upload('house', {}, { body: 'OWN HOUSE' });
    await upload('units', {}, { body: 'SI UNITS [[S:1]]', others: [source('units')] });
    await upload('maps', { imports: ['custom.units'] }, { body: 'MAPS [[S:1]]', others: [source('maps')] });
    await upload('ruler', { toolsets: ['tools:Tools'] }, { body: 'RULE', others: [toolset] });
    await upload(
      'yard',
      { toolsets: ['tools:Tools'] },
      { body: 'YARD', others: [{ ...toolset, name: 'yard/tools.mjs' }] },
    );
    for (const name of ['beam', 'plank']) {
      const others = [{ name: `${name}/tools.mjs`, content: toolset.content.replace("'length'", `'${name}'`) }];
      await upload(name, { toolsets: ['tools:Tools'], imports: ['custom.ruler'] }, { body: name, others });
    }
    const broken = { name: 'broken/tools.mjs', content: "throw new Error('no code today');" };
    await upload('broken', { toolsets: ['tools:Tools'] }, { body: 'BROKEN', others: [broken] });
    await upload('bound', { bindShells: ['ClaudeCode'] }, { body: 'BOUND' });
    await upload('secret', {}, { body: 'SECRET' });
    teamId = await createTeam({ call }, 'report', ['units', 'maps', 'ruler', 'bound'], { shell: 'Chat' });
  });
  afterAll(async () => {
    await scene[Symbol.asyncDispose]();
    await model.close();
  });

  it('has a program that loads a skill once, and gets a readable error for any other', async () => {
    const program = loads('units', 'units', 'maps', 'secret', 'bound', 'house');
    const { json } = await run({ team: 'report' }, ...choose([]), program);
    const there = 'there are custom.maps, custom.ruler, custom.units.';
    expect([json.value, json.stderr.text, json.outcome]).toEqual([
      [
        'SI UNITS [[S:1]]',
        'The skill "units" is already active.',
        'MAPS [[S:2]]',
        ['tool.failed', `There is no skill "secret" here; ${there}`],
        ['tool.failed', `There is no skill "bound" here; ${there}`],
        ['tool.failed', `There is no skill "house" here; ${there}`],
      ],
      '',
      'succeeded',
    ]);
    expect(json.sources.map((each: { url: string }) => each.url)).toEqual([
      'https://units.example/',
      'https://maps.example/',
    ]);
    const { json: job } = await call(`/jobs/${json.jobId}`);
    expect(job.request).toMatchObject({ team: teamId, select: true });
    expect(job.request).not.toHaveProperty('skillsUpTo');
    // The calls come over the channel of the job, and the host answers them.
    const { text } = await call(`/jobs/${json.jobId}/events`);
    const calls = [...text.matchAll(/^data: (.*"type":"call".*)$/gm)].map(([, line = '']) => JSON.parse(line).call);
    expect(calls.filter(({ target }) => target === 'tool').map(({ name, ok }) => [name, ok])).toEqual(
      [true, true, true, false, false, false].map((ok) => ['load_skill', ok]),
    );
  });

  it('chooses among the skills of the team, and has the tools that the chosen ones bring', async () => {
    const before = model.requests.length;
    const program = programAnswer(
      'javascript',
      "import { tools } from 'skillcell';\nexport default [await tools.length({ of: 'four' }), await tools.load_skill({ skill_name: 'ruler' })];",
    );
    const { json } = await run({ team: 'report' }, ...choose(['custom.ruler', 'custom.maps']), program);
    expect(json.value).toEqual([4, 'The skill "ruler" is already active.']);
    expect(json.skills.active).toEqual(['custom.ruler', 'custom.units', 'custom.maps']);
    const [choice, , written] = model.requests.slice(before);
    for (const id of ['custom.maps', 'custom.ruler', 'custom.units']) expect(choice?.system).toContain(id);
    expect(choice?.system).not.toMatch(/custom\.(?:secret|bound|house)|public\./);
    expect(written?.system).toMatch(/RULE[^]*SI UNITS \[\[S:1\]\][^]*MAPS \[\[S:2\]\]/);
    expect(written?.messages[0]?.content).toContain('load_skill(');
  });

  it('has the tools of a skill that its program loads, from then on', async () => {
    await createTeam({ call }, 'crafts', ['ruler', 'yard', 'broken', 'units']);
    const program = programAnswer(
      'javascript',
      `import { tools } from 'skillcell';
const told = (call) => call.catch(({ code, message }) => code + ': ' + message);
export default [
  await told(tools.length({ of: 'four' })),
  await told(tools.load_skill({ skill_name: 'broken' })),
  await Promise.all(['ruler', 'ruler'].map((skill_name) => told(tools.load_skill({ skill_name })))),
  await told(tools.length({ of: 'four' })),
  await told(tools.load_skill({ skill_name: 'yard' })),
  await told(tools.load_skill({ skill_name: 'units' })),
];`,
    );
    const { json } = await run({ team: 'crafts' }, ...choose([]), program);
    expect([json.value, json.outcome]).toEqual([
      [
        'tool.not-allowed: The job does not have the tool "length".',
        expect.stringMatching(/^tool.failed: Cannot load the code of custom.broken: [^]*no code today/),
        ['RULE', 'The skill "ruler" is already active.'],
        4,
        'tool.failed: Cannot load custom.yard: another tool has the name of its tool length.',
        'SI UNITS [[S:1]]',
      ],
      'succeeded',
    ]);
    expect(json.skills.active).toEqual(['custom.ruler', 'custom.units']);
  });

  it('has the tools of two skills with the same import that its program loads at once', async () => {
    await createTeam({ call }, 'joiners', ['beam', 'plank', 'ruler']);
    const program = programAnswer(
      'javascript',
      `import { tools } from 'skillcell';
await Promise.all(['beam', 'plank'].map((skill_name) => tools.load_skill({ skill_name })));
export default await Promise.all(['beam', 'plank', 'length'].map((name) => tools[name]({ of: 'four' })));`,
    );
    const { json } = await run({ team: 'joiners' }, ...choose([]), program);
    expect([json.value, json.outcome, json.stderr.text]).toEqual([[4, 4, 4], 'succeeded', '']);
  });

  it('has the tools of a skill that the model asks for before it writes the program', async () => {
    const before = model.requests.length;
    const program = programAnswer(
      'javascript',
      "import { tools } from 'skillcell';\nexport default await tools.length({ of: 'four' });",
    );
    const asks = '```skillcell-request\n{ "skills": ["ruler"] }\n```';
    const { json } = await run({ team: 'crafts', select: false }, asks, program);
    expect([json.value, json.outcome]).toEqual([4, 'succeeded']);
    expect(JSON.stringify(model.requests[before + 1])).toMatch(/tool length[^]*RULE|RULE[^]*tool length/);
  });

  it('asks for the program at once if its selection is off, and knows the skills that it can load', async () => {
    const before = model.requests.length;
    const { json } = await run({ team: 'report', select: false, skills: { refs: ['units'] } }, loads('maps'));
    expect([json.value, json.decision]).toEqual([['MAPS [[S:2]]'], undefined]);
    expect(json.skills.active).toEqual(['custom.units', 'custom.maps']);
    const [written] = model.requests.slice(before);
    expect(model.requests).toHaveLength(before + 1);
    expect(written?.messages[0]?.content).toContain(
      'Skills that there are:\n- **custom.maps**: About maps.\n- **custom.ruler**: About ruler.\n',
    );
  });

  it('asks no model in a dry run', async () => {
    const before = model.requests.length;
    const { json } = await run({ team: 'report', dryRun: true });
    expect([json.outcome, model.requests.length]).toEqual(['succeeded', before]);
    expect(json.stdout.text).toContain('custom.units');
  });

  it('fails if it names a skill outside of the team, and takes the skill of the team for a bare name', async () => {
    for (const ref of ['secret', 'custom.secret', 'bound', 'public.house', 'custom.units@9']) {
      const { json } = await run({ team: 'report', select: false, skills: { refs: [ref] } });
      expect([ref, json.outcome, json.error.name]).toEqual([ref, 'failed', expect.stringMatching(/^skills\./)]);
      expect(json.error.message).not.toContain(scene.folder);
    }
    // A public ghost has the public skill, which the own one of the same name hides otherwise.
    await createKind(scene, 'Ghost', { name: 'all' }, { skills: ['house'] }, true);
    await createKind({ call }, 'Bot', { name: 'of-all' }, { ghostRef: { name: 'all' } });
    await createKind({ call }, 'Team', { name: 'of-all' }, { members: [{ botRef: { name: 'of-all' } }] });
    const { json } = await run({ team: 'of-all', select: false, skills: { refs: ['house'] } }, loads('units'));
    expect(json.skills.active).toEqual(['public.house']);
    expect(json.value[0][1]).toBe('There is no skill "units" here; there are public.house.');
  });

  it('names its team by id, name or namespace, an own one before a public one', async () => {
    const inSpace = await createTeam({ call }, 'spaced', ['units'], { namespace: 'lab' });
    const ofAll = await createKind(scene, 'Team', { name: 'report' }, { members: [] }, true);
    const of = async (team: unknown, who = token): Promise<Answer> =>
      await scene.call('/jobs', { token: who, body: { kind: 'codegen', task: 'A.', dryRun: true, team } });
    for (const [team, id] of [
      [teamId, teamId],
      ['report', teamId],
      ['default/report', teamId],
      ['lab/spaced', inSpace],
    ]) {
      expect([team, (await of(team)).json.request?.team]).toEqual([team, id]);
    }
    const { token: second } = await scene.user('second');
    expect((await of('report', second)).json.request.team).toBe(ofAll);
    const detail = 'no team of yours and no public one has this name or id';
    for (const [team, who] of [
      ['spaced', token],
      ['none', token],
      ['lab/report', token],
      [99_999, token],
      [2 ** 40, token],
      [teamId, second],
      // An admin reads it, and has other skills.
      [teamId, scene.admin],
    ] as const) {
      const { status, json } = await of(team, who);
      expect([team, status, json.code, json.errors]).toEqual([
        team,
        422,
        'kind.reference-missing',
        [{ pointer: '/team', detail }],
      ]);
    }
    for (const team of [0, '', 'a\nb', {}, null]) expect([team, (await of(team)).status]).toEqual([team, 400]);
    const { status, json } = await call('/jobs', { body: { kind: 'exec', code: '1', team: 'report' } });
    expect([status, json.code]).toEqual([400, 'request.invalid']);
    const invoked = await call('/skills/invoke', { body: { skill_name: 'units', team: 'lab/spaced' } });
    expect(invoked.json.prompt).toContain('SI UNITS');
    expect((await call('/skills/invoke', { body: { skill_name: 'units', team: 'none' } })).status).toBe(404);
  });

  describe('that waits', () => {
    let blocking: string;
    const release = async (): Promise<void> => {
      await call(`/jobs/${blocking}/cancel`, { method: 'POST' });
    };
    const blockQueue = async (): Promise<void> => {
      const { json } = await call('/jobs', { body: { kind: 'exec', code: 'setInterval(() => {}, 1_000)' } });
      blocking = json.id;
      await until(async () => (await call(`/jobs/${blocking}`)).json.state === 'running', 'the first job');
    };
    const ended = async (id: string): Promise<Answer> => {
      await until(async () => (await call(`/jobs/${id}`)).json.state === 'finished', 'the end of the job');
      return await call(`/jobs/${id}/result`);
    };

    it('ends as failed if its team is deleted, and a repeated request gets it all the same', async () => {
      const team = await createTeam({ call }, 'short', ['units']);
      await blockQueue();
      const body = { kind: 'codegen', task: 'A.', team: 'short' };
      const headers = { 'idempotency-key': 'of-team' };
      const { json } = await call('/jobs', { body, headers });
      expect((await call(`/kinds/teams/${team}`, { method: 'DELETE' })).status).toBe(204);
      expect((await call('/jobs', { body, headers })).json.id).toBe(json.id);
      expect((await call('/jobs', { body })).status).toBe(422);
      await release();
      const { json: result } = await ended(json.id);
      expect([result.outcome, result.error.name, result.error.message]).toEqual([
        'failed',
        'kind.reference-missing',
        'Cannot run the job: its team was deleted after the submission.',
      ]);
      expect((await call(`/jobs/${json.id}`)).json.errorCode).toBe('kind.reference-missing');
      expect((await call(`/jobs/${json.id}/rerun`, { method: 'POST' })).json.code).toBe('kind.reference-missing');
    });

    it('has no skill that its team has lost, and the versions of its submission', async () => {
      const team = await createTeam({ call }, 'changing', ['units', 'secret']);
      await blockQueue();
      answers = [...choose([]), loads('secret', 'units'), ...choose([]), loads('units')];
      const { json } = await call('/jobs', { body: { kind: 'codegen', task: 'A.', team, maxAttempts: 1 } });
      const code = `import { readFileSync } from 'node:fs';
        console.log(readFileSync(process.env.SKILLS_DIR + '/custom/units/SKILL.md', 'utf8').split('---\\n')[2].trim());`;
      const { json: plain } = await call('/jobs', { body: { kind: 'exec', code, skills: { refs: ['units'] } } });
      const { json: ghosts } = await call('/kinds/ghosts?name=changing');
      const [ghost] = ghosts.items;
      const put = { ...ghost, spec: { skills: ['units'] } };
      const path = `/kinds/ghosts/${ghost.metadata.labels.id}`;
      const changed = await call(path, { method: 'PUT', body: put, headers: { 'if-match': '"1"' } });
      expect(changed.status).toBe(200);
      const { json: skills } = await call('/skills?name=units');
      const skill = `/skills/${skills.items[0].metadata.labels.id}`;
      const next = uploadForm(skillArchive('units', {}, { body: 'NEW UNITS' }));
      expect(
        (await call(skill, { method: 'PUT', body: next, headers: { 'if-match': '"1"' } })).json.skill,
      ).not.toBeNull();
      await release();
      expect((await ended(json.id)).json.value).toEqual([
        ['tool.failed', 'There is no skill "secret" here; there are custom.units.'],
        'SI UNITS [[S:1]]',
      ]);
      expect((await ended(plain.id)).json.stdout.text).toBe('SI UNITS [[S:1]]\n');
      const again = { method: 'POST', headers: { prefer: 'wait=60' } };
      expect((await call(`/jobs/${json.id}/rerun`, again)).json.value).toEqual(['NEW UNITS']);
      expect((await call(`/jobs/${plain.id}/rerun`, again)).json.stdout.text).toBe('NEW UNITS\n');
    });
  });
});
