import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CallOptions, type ServiceScene, startService, uploadForm } from '../fixtures/service.ts';
import { skillArchive } from '../fixtures/registry/skill-archive.ts';

/** Ids of one owner, by the name that the rows use. */
interface Owned {
  job: string;
  skill: string;
  ghost: string;
  bot: string;
  team: string;
  token: string;
}

/** A request with the id of another user, or with a missing one. */
type Row = (id: Owned) => [path: string, options?: CallOptions];

const PLAIN = 'needs no id of another user';
const ADMIN = 'is for admins only';
const ALL_READERS = 'is for admins and viewers';
const kind = (name: string): object => ({
  apiVersion: 'skillcell/v1',
  kind: name,
  metadata: { name: 'mine' },
  spec: { Ghost: {}, Bot: { ghostRef: { name: 'mine' } }, Team: { members: [] } }[name],
});

/** Each operation below `/api/v1`: a request with an id, or the reason why it takes none. */
const MATRIX: Record<string, Row | string> = {
  'GET /me': PLAIN,
  'POST /session': PLAIN,
  'DELETE /session': PLAIN,
  'GET /users': ALL_READERS,
  'POST /users': ADMIN,
  'PATCH /users/{id}': ADMIN,
  'GET /fleet': ADMIN,
  'POST /fleet/workers/{name}/drain': ADMIN,
  'GET /tokens': PLAIN,
  'POST /tokens': PLAIN,
  'DELETE /tokens/{id}': ({ token }) => [`/tokens/${token}`, { method: 'DELETE' }],
  'POST /jobs': ({ team }) => [
    '/jobs',
    { body: { kind: 'codegen', task: 'A task.', dryRun: true, team: Number(team) } },
  ],
  'GET /jobs': PLAIN,
  'GET /jobs/{id}': ({ job }) => [`/jobs/${job}`],
  'GET /jobs/{id}/result': ({ job }) => [`/jobs/${job}/result`],
  'GET /jobs/{id}/events': ({ job }) => [`/jobs/${job}/events`],
  'GET /jobs/{id}/output/{stream}': ({ job }) => [`/jobs/${job}/output/stdout`],
  'GET /jobs/{id}/artifacts': ({ job }) => [`/jobs/${job}/artifacts`],
  'GET /jobs/{id}/artifacts/{*}': ({ job }) => [`/jobs/${job}/artifacts/a.txt`],
  'POST /jobs/{id}/cancel': ({ job }) => [`/jobs/${job}/cancel`, { method: 'POST' }],
  'POST /jobs/{id}/rerun': ({ job }) => [`/jobs/${job}/rerun`, { method: 'POST' }],
  'DELETE /jobs/{id}': ({ job }) => [`/jobs/${job}`, { method: 'DELETE' }],
  ...Object.fromEntries(
    (
      [
        ['ghosts', 'Ghost', 'ghost'],
        ['bots', 'Bot', 'bot'],
        ['teams', 'Team', 'team'],
      ] as const
    ).flatMap(([path, name, id]): [string, Row | string][] => [
      [`GET /kinds/${path}`, PLAIN],
      [`POST /kinds/${path}`, PLAIN],
      [`GET /kinds/${path}/{id}`, (ids) => [`/kinds/${path}/${ids[id]}`]],
      [
        `PUT /kinds/${path}/{id}`,
        (ids) => [`/kinds/${path}/${ids[id]}`, { method: 'PUT', body: kind(name), headers: { 'if-match': '"1"' } }],
      ],
      [`DELETE /kinds/${path}/{id}`, (ids) => [`/kinds/${path}/${ids[id]}`, { method: 'DELETE' }]],
    ]),
  ),
  'GET /kinds/teams/{id}/skills': ({ team }) => [`/kinds/teams/${team}/skills`],
  ...Object.fromEntries(
    ['/skills', '/kinds/skills'].flatMap((base): [string, Row | string][] => [
      [`POST ${base}/upload`, PLAIN],
      [`GET ${base}`, PLAIN],
      [`GET ${base}/unified`, PLAIN],
      [`GET ${base}/public/list`, PLAIN],
      [`POST ${base}/public`, ADMIN],
      [`POST ${base}/invoke`, ({ team }) => [`${base}/invoke`, { body: { skill_name: 'secret', team: Number(team) } }]],
      [`GET ${base}/{id}`, ({ skill }) => [`${base}/${skill}`]],
      [`GET ${base}/{id}/download`, ({ skill }) => [`${base}/${skill}/download`]],
      [`PUT ${base}/{id}`, ({ skill }) => [`${base}/${skill}`, { method: 'PUT', headers: { 'if-match': '"1"' } }]],
      [`DELETE ${base}/{id}`, ({ skill }) => [`${base}/${skill}`, { method: 'DELETE' }]],
      [`GET ${base}/{id}/versions`, ({ skill }) => [`${base}/${skill}/versions`]],
      [`POST ${base}/{id}/rollback`, ({ skill }) => [`${base}/${skill}/rollback`, { body: { version: 1 } }]],
      [`GET ${base}/{id}/references`, ({ skill }) => [`${base}/${skill}/references`]],
      [
        `POST ${base}/{id}/remove-references`,
        ({ skill }) => [`${base}/${skill}/remove-references`, { method: 'POST' }],
      ],
      [
        `POST ${base}/{id}/remove-references/{ghostId}`,
        ({ skill, ghost }) => [`${base}/${skill}/remove-references/${ghost}`, { method: 'POST' }],
      ],
    ]),
  ),
};

/** Operations whose body refers to the id: a missing one is a fault of the body. */
const IN_BODY = ['POST /jobs'];

let scene: ServiceScene;
let theirs: Owned;
let member: string;
let operations: string[];
beforeAll(async () => {
  scene = await startService();
  const { token } = await scene.user('owner');
  member = (await scene.user('other')).token;
  const code = "await (await import('node:fs')).promises.writeFile(process.env.SKILLCELL_OUTPUT + '/a.txt', 'text');";
  const { json: result } = await scene.call('/jobs', {
    token,
    body: { kind: 'exec', code },
    headers: { prefer: 'wait=60' },
  });
  const { json: skill } = await scene.call('/skills/upload', {
    token,
    body: uploadForm(skillArchive('secret', {}, { body: 'Text.' })),
  });
  const make = async (path: string, body: object): Promise<string> =>
    (await scene.call(`/kinds/${path}`, { token, body })).json.metadata.labels.id;
  theirs = {
    job: result.jobId,
    skill: skill.skill.metadata.labels.id,
    ghost: await make('ghosts', { ...kind('Ghost'), spec: { skills: ['secret'] } }),
    bot: await make('bots', kind('Bot')),
    team: await make('teams', { ...kind('Team'), spec: { members: [{ botRef: { name: 'mine' } }] } }),
    token: String((await scene.call('/tokens', { token, body: { name: 'ci' } })).json.id),
  };
  // The other user has the same names, so that a name alone does not matter.
  await scene.call('/kinds/ghosts', { token: member, body: kind('Ghost') });
  const { json } = await scene.call('/openapi.json', { token: null });
  operations = Object.entries(json.paths as Record<string, object>).flatMap(([path, methods]) =>
    path.startsWith('/api/v1')
      ? Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.slice('/api/v1'.length)}`)
      : [],
  );
});
afterAll(() => scene[Symbol.asyncDispose]());

const MISSING: Owned = {
  job: '00000000-0000-4000-8000-000000000000',
  skill: '99999',
  ghost: '99999',
  bot: '99999',
  team: '99999',
  token: '99999',
};

/** An answer without the parts that differ from request to request. */
async function answerTo(row: Row, ids: Owned): Promise<unknown> {
  const [path, options] = row(ids);
  const { status, text, headers } = await scene.call(path, { ...options, token: member });
  const kept = [...headers].filter(([name]) => !['date', 'content-length', 'keep-alive'].includes(name));
  return { status, kept, text: text.replace(/"requestId":"[^"]*"/, '') };
}

/** Ids of the owners of the skills that a list shows. */
async function ownersOf(scope: string, token: string): Promise<string[]> {
  const { json } = await scene.call(`/skills/unified?scope=${scope}`, { token });
  return json.map((skill: { metadata: { labels: { user_id: string } } }) => skill.metadata.labels.user_id);
}

describe('the owner matrix', () => {
  it('has a row for each operation, and no other', () => {
    expect(Object.keys(MATRIX).toSorted()).toEqual(operations.toSorted());
  });

  it.for(Object.entries(MATRIX).flatMap(([name, row]) => (typeof row === 'string' ? [] : [[name, row] as const])))(
    '%s answers a member for an id of another user as for a missing one',
    async ([name, row]) => {
      const answer = await answerTo(row, MISSING);
      expect(answer).toMatchObject({ status: IN_BODY.includes(name) ? 422 : 404 });
      expect(await answerTo(row, theirs)).toEqual(answer);
    },
  );

  it.for(['/jobs', '/skills/invoke'])('POST %s answers a member for the name of such a team as well', async (path) => {
    const named =
      (team: string): Row =>
      () => [
        path,
        { body: { ...(path === '/jobs' ? { kind: 'codegen', task: 'A task.' } : { skill_name: 'secret' }), team } },
      ];
    const answer = await answerTo(named('none'), MISSING);
    expect(answer).toMatchObject({ status: path === '/jobs' ? 422 : 404 });
    for (const team of ['mine', 'default/mine']) expect(await answerTo(named(team), theirs)).toEqual(answer);
  });

  it('refuses members what is for admins and viewers', async () => {
    const rows = Object.keys(MATRIX).filter((name) => [ADMIN, ALL_READERS].includes(String(MATRIX[name])));
    for (const name of rows) {
      const [method = '', path = ''] = name.replace('{id}', '1').split(' ');
      const body = method === 'GET' ? {} : { body: { role: 'member', name: 'x', description: 'x', prompt: 'x' } };
      const { status, json } = await scene.call(path, { method, token: member, ...body });
      expect([name, status, json.code]).toEqual([name, 403, 'auth.forbidden']);
    }
  });

  it('lists nothing of another user', async () => {
    for (const path of [
      '/jobs',
      '/jobs?q=exec',
      '/jobs?user=2',
      '/skills',
      '/kinds/ghosts',
      '/kinds/bots',
      '/kinds/teams',
      '/tokens',
    ]) {
      const { text, status } = await scene.call(path, { token: member });
      expect([path, status]).toEqual([path, 200]);
      for (const id of [theirs.job, '"secret"', '"ci"']) expect([path, text.includes(id)]).toEqual([path, false]);
    }
    for (const scope of ['all', 'everyone']) expect(await ownersOf(scope, member)).not.toContain('2');
  });

  it('shows a viewer everything, and lets it change nothing', async () => {
    const { token } = await scene.user('watcher', 'viewer');
    expect((await scene.call(`/jobs/${theirs.job}`, { token })).status).toBe(200);
    expect((await scene.call(`/skills/${theirs.skill}`, { token })).status).toBe(200);
    expect((await scene.call('/users', { token })).status).toBe(200);
    expect(await ownersOf('everyone', token)).toContain('2');
    expect(await ownersOf('all', token)).not.toContain('2');
    for (const [path, options] of [
      [`/jobs/${theirs.job}`, { method: 'DELETE' }],
      ['/jobs', { body: { kind: 'exec', code: '1' } }],
      ['/tokens', { body: { name: 'x' } }],
      ['/users/2', { method: 'PATCH', body: { disabled: true } }],
    ] as const) {
      expect((await scene.call(path, { ...options, token })).json.code).toBe('auth.forbidden');
    }
  });
});
