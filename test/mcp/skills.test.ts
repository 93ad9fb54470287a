import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BEST_LEVEL } from '../fixtures/levels.ts';
import { type McpClient, startMcpClient } from '../fixtures/mcp-clients/mcp-client.ts';
import { levelFlags, stdioConnection } from '../fixtures/mcp-server.ts';
import { skillLibrary, skillText, type SkillLibrary } from '../fixtures/skill-library.ts';
import { until } from '../fixtures/until.ts';

const SECRET = 'The safe opens with 4711.';
const LONG = 'A line of a long list.\n'.repeat(20_000);

let library: SkillLibrary;
let client: McpClient;
let cache: string;

beforeAll(async () => {
  library = skillLibrary({
    'letters/SKILL.md': skillText({ name: 'letters', description: 'How letters look.' }, 'Begin with a greeting.\n'),
    'letters/scripts/greet.mjs': 'console.log("Dear", process.argv[2]);\n',
    'letters/data/logo.bin': { base64: 'AP8B/g==' },
    'letters/long.txt': LONG,
    'safe/SKILL.md': skillText({ name: 'safe', description: 'How the safe opens.' }, `${SECRET}\n`),
    'safe/scripts/open.mjs': `console.log(${JSON.stringify(SECRET)});\n`,
  });
  const descriptor = join(library.root, '..', `bundle-${process.pid}.json`);
  const agents = { 'desk.chat': { disabled: ['custom.safe'] }, 'desk.vault': {} };
  writeFileSync(descriptor, JSON.stringify({ custom_skills_root: library.root, agents_config: agents }));
  cache = mkdtempSync(join(tmpdir(), 'mcp-cache-'));
  client = startMcpClient('v2');
  const flags = ['--descriptor', descriptor, '--consumer', 'desk.chat', ...(await levelFlags(BEST_LEVEL))];
  await client.connect(stdioConnection(flags, { XDG_CACHE_HOME: cache }));
  rmSync(descriptor);
});
afterAll(async () => {
  await client[Symbol.asyncDispose]();
  library[Symbol.dispose]();
  rmSync(cache, { recursive: true });
});

describe('skills as tools', () => {
  it('are those that the consumer may have, with instructions and files', async () => {
    const listed = await client.run('list_skills', {});
    const ids = (listed.structuredContent['skills'] as { id: string }[]).map(({ id }) => id);
    expect(ids).toContain('custom.letters');
    expect(ids).toContain('public.chart');
    expect(ids.filter((id) => /safe|link-evidence/.test(id))).toEqual([]);

    const loaded = await client.run('load_skill', { skill: 'custom.letters' });
    expect(loaded.structuredContent).toMatchObject({ id: 'custom.letters' });
    expect(loaded.structuredContent['instructions']).toContain('Begin with a greeting.');
    const files = loaded.structuredContent['files'] as { path: string }[];
    expect(files.map(({ path }) => path)).toEqual(['SKILL.md', 'data/logo.bin', 'long.txt', 'scripts/greet.mjs']);
    // Nothing is kept between calls: a second client, or a model that forgot, gets all of it again.
    expect((await client.run('load_skill', { skill: 'custom.letters' })).structuredContent).toEqual(
      loaded.structuredContent,
    );

    const read = await client.run('read_skill_file', {
      skill: 'custom.letters',
      path: 'SKILL.md',
      offset: 4,
      limit: 1,
    });
    expect(read.structuredContent).toMatchObject({ skill: 'custom.letters', text: 'Begin with a greeting.\n' });
  });

  it('are found by words, and a denied one is not', async () => {
    const found = await client.run('search_skills', { text: 'begin a letter with a greeting', max: 1 });
    expect(found.structuredContent).toEqual({
      skills: [
        {
          id: 'custom.letters',
          name: 'letters',
          brief: 'How letters look.',
          score: expect.any(Number) as number,
          snippet: 'Begin with a greeting.',
        },
      ],
    });
    const denied = await client.run('search_skills', { text: 'safe opens 4711' });
    expect(JSON.stringify(denied.structuredContent)).not.toMatch(/custom.safe|4711/);
  });

  it('have scripts that run, with their arguments', async () => {
    const run = await client.run('run_skill_script', {
      skill: 'custom.letters',
      script: 'scripts/greet.mjs',
      args: ['Ada'],
    });
    expect(run.structuredContent).toMatchObject({
      kind: 'script',
      outcome: 'succeeded',
      stdout: { text: 'Dear Ada\n' },
    });
  });

  it('mark a text that is too long, and a resource has all of it', async () => {
    const read = await client.run('read_skill_file', { skill: 'custom.letters', path: 'long.txt' });
    expect(read.structuredContent).toMatchObject({ lines: 20_000, more: true });
    const loaded = await client.read('skill://custom/letters/long.txt');
    expect(loaded.contents[0]?.text).toBe(LONG);
  });

  it('take the bare name that a search shows, if only one skill has it', async () => {
    const loaded = await client.run('load_skill', { skill: 'letters' });
    expect(loaded.structuredContent).toMatchObject({ id: 'custom.letters' });
    const read = await client.run('read_skill_file', { skill: 'letters', path: 'long.txt' });
    expect(read.structuredContent).toMatchObject({ skill: 'custom.letters', lines: 20_000 });
  });

  it.each([
    ['load_skill', { skill: 'custom.safe' }],
    ['load_skill', { skill: 'safe' }],
    ['load_skill', { skill: 'internal.link-evidence' }],
    ['read_skill_file', { skill: 'custom.safe', path: 'SKILL.md' }],
  ])('%s reveals nothing of a denied skill, and answers as for an unknown one: %j', async (tool, given) => {
    const denied = await client.run(tool, given);
    const unknown = await client.run(tool, { ...given, skill: 'custom.none' });
    const about = (text: string | undefined): string =>
      String(text).replaceAll(/custom\.(?:safe|none)|internal\.link-evidence|safe/g, 'X');
    expect(denied.isError).toBe(true);
    expect(about(denied.content[0]?.text)).toBe(about(unknown.content[0]?.text));
    expect(JSON.stringify(denied)).not.toContain('4711');
  });

  it.each([
    ['run_code', { code: 'console.log(1)', skills: ['custom.safe'] }],
    ['run_skill_script', { skill: 'custom.safe', script: 'scripts/open.mjs' }],
    ['open_session', { skills: ['custom.safe'] }],
  ])('%s carries no denied skill', async (tool, given) => {
    const { isError, structuredContent } = await client.run(tool, given);
    expect(isError).toBe(true);
    expect(structuredContent).toMatchObject({ error: { code: 'skills.reference-denied' } });
  });

  it('read no path that a skill does not list', async () => {
    for (const path of ['../safe/SKILL.md', '/etc/passwd', 'scripts', './SKILL.md', '%2e%2e/safe/SKILL.md']) {
      const { structuredContent } = await client.run('read_skill_file', { skill: 'custom.letters', path });
      expect(structuredContent).toMatchObject({ error: { code: 'file.unreadable' } });
    }
  });
});

describe('skills as resources of the extension (SEP-2640)', () => {
  it('are verified by the library, each file by its digest', async () => {
    const skills = await client.skills();
    const uris = skills.map(({ uri }) => uri);
    expect(uris).toContain('skill://custom/letters/SKILL.md');
    expect(uris).toContain('skill://public/chart/SKILL.md');
    const files = skills.flatMap((skill) => skill.files);
    expect(files.length).toBeGreaterThan(10);
    expect(files.filter(({ verified }) => !verified)).toEqual([]);
    const letters = skills.find(({ uri }) => uri.includes('/letters/'));
    expect(letters?.files.map(({ uri }) => uri)).toEqual([
      'skill://custom/letters/SKILL.md',
      'skill://custom/letters/data/logo.bin',
      'skill://custom/letters/long.txt',
      'skill://custom/letters/scripts/greet.mjs',
    ]);
  });

  it('exclude skills that the consumer may not have, in lists and by address', async () => {
    const shown = JSON.stringify([await client.skills(), await client.resources()]);
    expect(shown).toContain('letters');
    expect(shown).not.toMatch(/safe|link-evidence/);
    for (const uri of [
      'skill://custom/safe/SKILL.md',
      'skill://custom/letters/../safe/SKILL.md',
      'skill://custom/letters/%2e%2e/safe/SKILL.md',
      'skill://internal/link-evidence/SKILL.md',
    ]) {
      await expect(client.read(uri), uri).rejects.toThrow(/not found|not served|nothing|Resource/i);
    }
  });

  it('keep their old text until a change is seen, and then have the new text', async () => {
    const path = join(library.root, 'letters', 'long.txt');
    const texts = new Set<string | undefined>();
    const read = async (): Promise<string | undefined> =>
      (await client.read('skill://custom/letters/long.txt').catch(() => undefined))?.contents[0]?.text;
    writeFileSync(path, `${LONG}And one more.\n`);
    try {
      await until(async () => {
        const text = await read();
        if (text !== undefined) texts.add(text);
        return text?.endsWith('And one more.\n') === true;
      }, 'the changed file');
      expect([...texts].filter((text) => text !== LONG)).toEqual([`${LONG}And one more.\n`]);
    } finally {
      writeFileSync(path, LONG);
    }
  });
});
