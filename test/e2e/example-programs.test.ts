import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { MISSING_CEPH, startCeph } from '../fixtures/ceph.ts';
import { MISSING_CURL, MISSING_GIT, MISSING_NPM, MISSING_PYTHON, requireHere } from '../fixtures/describe-with.ts';
import { MISSING_REDIS } from '../fixtures/fleet/redis.ts';
import { requireLevel } from '../fixtures/levels.ts';
import { openRawBucket } from '../fixtures/raw-bucket.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
// Without a model in the environment, the recordings answer.
const env = { PATH: dirname(process.execPath), HOME: process.env['HOME'], DOCKER_HOST: process.env['DOCKER_HOST'] };

async function run(program: string, more: Record<string, string> = {}): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [join('examples', program)], {
    cwd: root,
    env: { ...env, ...more },
  });
  expect(stderr).toBe('');
  return stdout;
}

it('a decision picks skills, hands one question over to codegen, and answers the other', async () => {
  const [program = '', text = ''] = (await run('decision/decision.ts')).split(/^(?=Question: )/m);
  expect(program).toContain(
    '\n  skill SK1: custom.amounts, loaded\n  decided: codegen\n  handed over: Read invoices.csv',
  );
  expect(program).toContain('\n  succeeded\n  | 3 of 4 customers owe more than 1,000.\n  reminders.csv:\n');
  expect(program).toContain('\n  | Ada Meyer,1480.00\n  | Ben Okafor,1050.50\n  | Cleo Laurent,2310.75\n');
  expect(text).toContain('\n  skill SK2: custom.letters, loaded\n  decided: text\n  succeeded\n  | With the name');
});

it('an answer is written with a skill, and repaired until it fits its schema', async () => {
  const said = await run('generate/generate.ts');
  expect(said).toMatch(/^Skills: custom\.letters; answers: 2\nSubject: Our invoice of 1,480\.00\n\nDear Ada Meyer,\n/);
});

it('a script of a skill sums a table for a person and for a program', async (context) => {
  requireHere(context, MISSING_PYTHON);
  const said = await run('script/script.ts');
  expect(said).toContain('succeeded: {"Ada Meyer":148000,"Ben Okafor":105050,"Cleo Laurent":231075,"Dana Ito":8500}\n');
  expect(said).toContain(
    '\nsums.csv:\nAda Meyer,1480.00\r\nBen Okafor,1050.50\r\nCleo Laurent,2310.75\r\nDana Ito,85.00\n',
  );
  expect(said).toMatch(/\nfailed: FileNotFoundError: .*'none\.csv'\n$/);
});

it('tools of two third-party skills answer a program and see nothing of its job', async (context) => {
  requireHere(context, MISSING_PYTHON);
  expect(await run('skill-code/skill-code.ts')).toBe(`greet: Bonjour Ada
to_kilometres: 42.2
to_kilometres: tool.invalid-arguments
snoop: greetings; invoices not found
called greet, well
called to_kilometres, well
called to_kilometres, refused
called snoop, well
`);
});

it('a program uses tools, and a call that needs approval runs only with it', async () => {
  expect(await run('tools/tools.ts')).toBe(`asked: shop.order 10 × paper, 4500 cents
asked: shop.order 1 × toner, 8900 cents
paper order 1
toner tool.denied - The call of shop.order was not allowed: over 5000 cents.
gold tool.failed - There is no article gold.
done: 10 × paper for ada
shop.price: 3 calls, 1 failed
shop.order: 2 calls, 1 failed
`);
});

it('a job of a fleet begins again on another worker when its own is killed', async (context) => {
  requireHere(context, MISSING_REDIS);
  requireLevel(context, 'namespace');
  expect(await run('fleet/fleet.ts', { PATH: `${env.PATH}:/usr/bin` }))
    .toBe(`the worker of the sandbox is killed while north is read
attempt 2 begins in another sandbox
succeeded in attempt 2, after sandboxes on 2 workers
north 1.0
south 16.0
`);
}, 120_000);

it('a session plots, survives an endless loop, and leaves a picture', async () => {
  const said = await run('session/session.ts');
  expect(said).toMatch(
    /^run 1: 4 rows\nrun 2: <svg xmlns=[^\n]*stroke="black" points="0,133 100,111 200,80 300,36"\/><\/svg>\n/,
  );
  expect(said).toContain('\nrun 3: timeout, kept; The program took longer than 0.5 s.\nrun 4: 97.3 ppm in 60 years\n');
  expect(said).toContain('\nleft: plot.svg, image/svg+xml\n3da50807 141 bytes\n');
});

it('a job reads an API with a bearer that it never sees, and why another path is closed', async (context) => {
  requireLevel(context, 'namespace');
  const said = await run('network/network.ts');
  expect(said).toMatch(/^\/v1\/orders 200 \{"orders":3,"authorization":"Bearer sk-[A-Za-z0-9]{21}"\}\n/);
  expect(said).toMatch(
    /\n\/admin 403 skillcell: path-not-allowed: .* This job may use: GET https:\/\/api\.example\.com/,
  );
  expect(said).toContain(
    "sent: [ 'API_TOKEN' ] denied: [ '/admin path-not-allowed' ]\nthe bearer is in the result: false\n",
  );
});

it('a job clones a private repository by Basic authentication, and never sees the token', async (context) => {
  requireLevel(context, 'namespace');
  requireHere(context, MISSING_GIT);
  const said = await run('network/git-clone.ts', { PATH: `${env.PATH}:/usr/bin` });
  expect(said).toMatch(/^[0-9a-f]{7} Ada: Add the plan\nShip on Friday\.\nthe token in the job: git-[A-Za-z0-9]{20}\n/);
  expect(said).toContain('\nremote: skillcell: path-not-allowed: ');
  expect(said).toMatch(/\nsent: \[ 'GIT_TOKEN' \] in \d requests\nthe token is in the result: false\n$/);
});

it('a job uses a bucket with keys that it never sees', async (context) => {
  requireLevel(context, 'namespace');
  requireHere(context, MISSING_CEPH ?? MISSING_CURL);
  await using ceph = await startCeph();
  const { credentials } = ceph.owner;
  const bucket = openRawBucket(ceph.endpoint, credentials, 'letters');
  await bucket.create();
  bucket.close();
  const said = await run('network/s3.ts', {
    S3_ENDPOINT: ceph.endpoint,
    S3_BUCKET: 'letters',
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  });
  expect(said).toMatch(
    /^PUT 200\nHello from a sandbox\. GET 200\nDELETE 204\nskillcell: path-not-allowed: .*\nGET 403\n/,
  );
  expect(said).toMatch(/\nthe keys in the job: AKIA[A-Z2-7]{16} \w{11}\nsent: \[ 'BUCKET' \] denied: /);
  expect(said).toMatch(/\nthe secret key is in the result: false\n$/);
  for (const key of Object.values(credentials)) expect(said).not.toContain(key);
});

it('a job has a package of npm, and its program has no network', async (context) => {
  requireLevel(context, 'namespace');
  requireHere(context, MISSING_NPM);
  const said = await run('network/packages.ts');
  expect(said).toMatch(
    /^a letter to France: 285 cents\nthe registry from the program: (?:EAI_AGAIN|ENOTFOUND)\nnpm postage 1\.2\.0 sha512-/,
  );
  expect(said).toMatch(/\nnpm postal-zones 2\.0\.3 sha512-\S+\nfailed InstallError /);
  expect(said).toMatch(/ \[ '\/crypto-miner package-not-allowed' \]\n$/);
});

it('a session installs packages that its host allows', async (context) => {
  requireLevel(context, 'namespace');
  requireHere(context, MISSING_NPM);
  const said = await run('network/npm-install.ts');
  expect(said).toMatch(
    /^run 1: Cannot find module 'postage'\nrun 2: added 2 packages .* postage postal-zones; requests: 4\n/,
  );
  expect(said).toMatch(/\nrun 3: 95 cents\nrun 4: exit code 1\nDenied by policy: package-not-allowed, crypto-miner\n$/);
});

it('a codegen job repairs its program after a denial', async (context) => {
  requireLevel(context, 'namespace');
  expect(await run('network/repair.ts')).toMatch(
    /^the model reads: denied 1 × GET https:\S+\/v2\/orders \(path-not-allowed\)\nattempts: \[ 'failed', 'succeeded' \]\norders: 2\n$/,
  );
});

it('a recorded skill eval reproduces the stored table', async () => {
  const table = readFileSync(join(root, 'examples/eval/table.txt'), 'utf8');
  expect(await run('eval/eval.ts')).toBe(table);
  expect(table).toMatch(/^custom\.amounts: better\n/);
});

it('an agent of the AI SDK loads a skill, and its program calls a tool that the model may not call', async () => {
  expect(await run('ai-sdk/agent.ts'))
    .toBe(`the model may call: run_code, list_skills, search_skills, load_skill, read_skill_file, run_skill_script
and its programs: sales
load_skill
run_code "rows read: 12000\\n"
calls of sales: 12
The best month was 7, with 9995.00.
`);
});

it('an MCP client finds a skill, loads and verifies it, and runs its script', async (context) => {
  requireHere(context, MISSING_PYTHON);
  const said = await run('mcp/mcp.ts');
  expect(said).toMatch(
    /^connected to skillcell by the protocol of 2026-07-28\n→ list_skills \{\}\n← custom\.invoices: Sums open/,
  );
  expect(said).toContain(
    '\n→ load_skill {"skill":"custom.invoices"}\n← Never add the amounts yourself: run `scripts/sum.py`',
  );
  expect(said.match(/verified: true$/gm)).toHaveLength(3);
  expect(said).toContain(
    '\n← succeeded: {"Ada Meyer":148000,"Ben Okafor":105050,"Cleo Laurent":231075,"Dana Ito":8500}\n',
  );
  expect(said).toContain('\n→ resources/read sums.csv\n← Ada Meyer,1480.00\n  Ben Okafor,1050.50\n');
  expect(said).toMatch(/\n← an error\n← script\.not-listed\n$/);
});
