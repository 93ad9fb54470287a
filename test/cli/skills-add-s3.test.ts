import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { removeTree } from '../../src/durable/remove-tree.ts';
import { type Ceph, MISSING_CEPH, startCeph } from '../fixtures/ceph.ts';
import { describeWith } from '../fixtures/describe-with.ts';
import { openRawBucket, type RawBucket } from '../fixtures/raw-bucket.ts';
import { type CliRun, runCli } from '../fixtures/spawn-cli.ts';

const BUCKET = 'source';

describeWith('skills add s3://', MISSING_CEPH, () => {
  let ceph: Ceph;
  let raw: RawBucket;
  let home: string;
  let users = 0;
  let user: string;
  beforeAll(async () => {
    ceph = await startCeph();
    raw = openRawBucket(ceph.endpoint, ceph.owner.credentials, BUCKET);
    await raw.create();
  });
  afterAll(async () => {
    raw?.close();
    await ceph?.[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'skillcell-add-s3-'));
    mkdirSync(join(home, 'project'));
    user = `u${(users += 1)}`;
    await raw.put(`${user}/skills/deeds/sale/SKILL.md`, skillText('sale'));
    await raw.put(`${user}/skills/deeds/sale/form.md`, 'Form.\n');
    await raw.put(`${user}/skills/rent/SKILL.md`, skillText('rent'));
  });
  afterEach(() => removeTree(home));

  const inProject = (path: string): string => join(home, 'project', path);
  const environment = (): Record<string, string> => {
    const { accessKeyId, secretAccessKey } = ceph.owner.credentials;
    return {
      HOME: home,
      XDG_CACHE_HOME: '',
      AWS_ENDPOINT_URL_S3: ceph.endpoint,
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
      AWS_EC2_METADATA_DISABLED: 'true',
    };
  };
  const skills = (argv: string[], env: Record<string, string> = {}): Promise<CliRun> =>
    runCli(['skills', ...argv], { cwd: join(home, 'project'), env: { ...environment(), ...env } });

  it('lists, takes, restores, compares and verifies skills of a prefix, pinned by their digests', async () => {
    const source = `s3://${BUCKET}/${user}/skills`;
    const listed = await skills(['add', `${source}/`, '--list']);
    expect(listed).toMatchObject({ code: 0, stderr: '' });
    expect(listed.stdout).toContain('custom.sale');
    expect(existsSync(inProject('.agents'))).toBe(false);

    expect(await skills(['add', `${source}/`])).toMatchObject({ code: 0 });
    expect(readFileSync(inProject('.agents/skills/sale/form.md'), 'utf8')).toBe('Form.\n');
    const text = readFileSync(inProject('skillcell.lock.json'), 'utf8');
    const lock = JSON.parse(text) as { skills: Record<string, { origin: object }> };
    expect(Object.values(lock.skills).map(({ origin }) => origin)).toEqual([
      { type: 's3', source, folder: 'rent' },
      { type: 's3', source, folder: 'deeds/sale' },
    ]);
    // Neither the endpoint nor the credentials.
    expect(text).not.toMatch(/127\.0\.0\.1|access|secret|etag/i);

    await raw.put(`${user}/skills/rent/SKILL.md`, skillText('rent'));
    removeTree(join(home, '.cache'));
    rmSync(inProject('.agents'), { recursive: true });
    expect(await skills(['install'])).toMatchObject({
      code: 0,
      stdout: 'installed custom.rent in .agents/skills/rent\ninstalled custom.sale in .agents/skills/sale\n',
    });
    expect((await skills(['verify'])).code).toBe(0);

    await raw.put(`${user}/skills/deeds/sale/form.md`, 'Other form.\n');
    const shown = await skills(['update', '--dry-run']);
    expect(shown.stdout).toMatch(/-Form\.[^]*\+Other form\./);
    rmSync(inProject('.agents/skills/sale'), { recursive: true });
    removeTree(join(home, '.cache'));
    const refused = await skills(['install']);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('sale')]);
    expect((await skills(['update'])).code).toBe(0);
    expect(readFileSync(inProject('.agents/skills/sale/form.md'), 'utf8')).toBe('Other form.\n');
    expect((await skills(['verify'])).code).toBe(0);
  });

  it('takes one skill by its own prefix, or by a folder of the source', async () => {
    expect((await skills(['add', `s3://${BUCKET}/${user}/skills/deeds/sale`])).code).toBe(0);
    expect(existsSync(inProject('.agents/skills/sale/form.md'))).toBe(true);
    expect((await skills(['add', `s3://${BUCKET}/${user}/skills:rent`])).code).toBe(0);
    expect(existsSync(inProject('.agents/skills/rent/SKILL.md'))).toBe(true);
  });

  it('reads endpoint, region and keys of a profile', async () => {
    const { accessKeyId, secretAccessKey } = ceph.owner.credentials;
    mkdirSync(join(home, '.aws'));
    writeFileSync(
      join(home, '.aws', 'config'),
      `[profile lab]\nregion = eu-central-1\nendpoint_url = ${ceph.endpoint}\naws_access_key_id = ${accessKeyId}\naws_secret_access_key = ${secretAccessKey}\n`,
    );
    chmodSync(join(home, '.aws', 'config'), 0o600);
    const unset = { AWS_ENDPOINT_URL_S3: '', AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '', AWS_PROFILE: 'lab' };
    expect(await skills(['add', `s3://${BUCKET}/${user}/skills`], unset)).toMatchObject({ code: 0, stderr: '' });
  });

  it('reports the fault, with advice, if the source may not be read', async () => {
    const source = `s3://${BUCKET}/${user}/skills`;
    const none = { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' };
    const cases: [name: string, source: string, env: Record<string, string>, code: number, said: RegExp][] = [
      ['no keys', source, none, 3, /no keys are found[^]*AWS_ACCESS_KEY_ID/],
      ['unknown keys', source, { AWS_ACCESS_KEY_ID: 'AKIAunknown' }, 3, /InvalidAccessKeyId[^]*AWS_ACCESS_KEY_ID/],
      ['wrong keys', source, { AWS_SECRET_ACCESS_KEY: 'notthisone' }, 3, /SignatureDoesNotMatch[^]*AWS_ACCESS_KEY_ID/],
      ['no bucket', `s3://nobucket/${user}`, {}, 3, /NoSuchBucket[^]*AWS_ENDPOINT_URL_S3/],
      ['no service', source, { AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:9' }, 3, /ECONNREFUSED/],
      ['a credential in the endpoint', source, { AWS_ENDPOINT_URL_S3: 'http://a:notthisone@127.0.0.1' }, 2, /endpoint/],
      ['a prefix of dots', `s3://${BUCKET}/${user}/../u1`, {}, 2, /a \. or \.\. component/],
      ['an empty prefix', `s3://${BUCKET}/${user}/none`, {}, 2, /the source holds no skill that can be taken/],
    ];
    for (const [name, from, env, code, said] of cases) {
      const ran = await skills(['add', from], env);
      expect([ran.code, ran.stderr], name).toEqual([code, expect.stringMatching(said)]);
      expect(ran.stderr, name).not.toMatch(/notthisone|ownersecret/);
    }
    expect(existsSync(inProject('.agents'))).toBe(false);
  });
});

function skillText(name: string): string {
  return `---\nname: ${name}\ndescription: What ${name} is for.\n---\nBody of ${name}.\n`;
}
