import { mkdtempSync, mkdirSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { removeTree } from '../../src/durable/remove-tree.ts';
import { addSkills } from '../../src/library/install/add-skills.ts';
import { approveSkills } from '../../src/library/install/approve-skills.ts';
import { openSkillLibrary } from '../../src/library/open-skill-library.ts';
import type { SkillLibrary } from '../../src/library/snapshot/skill-library.ts';
import { findInSource } from '../../src/library/sources/find-in-source.ts';
import { parseSource } from '../../src/library/sources/parse-source.ts';
import { openTreeCache } from '../../src/library/stores/cache/tree-cache.ts';
import { createDirectoryStore } from '../../src/library/stores/directory/directory-store.ts';
import { writeTree } from '../conformance/write-tree.ts';
import { BEST_LEVEL } from '../fixtures/levels.ts';
import { type McpClient, startMcpClient } from '../fixtures/mcp-clients/mcp-client.ts';
import { levelFlags, stdioConnection } from '../fixtures/mcp-server.ts';
import { runMain } from '../fixtures/run-main.ts';

/** One skill that a consumer may load, and one for each reason of refusal. */
const SKILLS = {
  allowed: 'public.allowed',
  denied: 'public.denied',
  internal: 'internal.inner',
  unapproved: 'public.loose',
} as const;
type Which = keyof typeof SKILLS;
const KEPT_OUT = ['denied', 'internal', 'unapproved'] as const;

/** Words that only one skill contains; no id contains them. */
const word = (which: Which, place: 'description' | 'body' | 'file'): string => `zz${which}${place}zz`;
const WORDS = KEPT_OUT.flatMap((which) =>
  (['description', 'body', 'file'] as const).map((place) => word(which, place)),
);

const CONSUMER = 'writer';
let home: string;
let library: SkillLibrary;
let client: McpClient;

beforeAll(async () => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'policy-')));
  const lockFile = join(home, 'project', 'skillcell.lock.json');
  mkdirSync(join(home, 'project'));
  for (const [which, id] of Object.entries(SKILLS) as [Which, string][]) {
    const [namespace, name] = id.split('.') as [string, string];
    const files = {
      'SKILL.md': `---\nname: ${name}\ndescription: Common words of ${word(which, 'description')}.\n---\nCommon ${word(which, 'body')}.\n`,
      [`${word(which, 'file')}.txt`]: `${word(which, 'file')}\n`,
    };
    writeTree(join(home, 'root', namespace, name), files);
    if (which !== 'unapproved') writeTree(join(home, 'source', name), files);
  }
  // A pattern, not the full id: explanations quote the rules of the host.
  const agents_config = { [CONSUMER]: { disabled: ['public.den*'] } };
  writeTree(home, { 'bundle.json': JSON.stringify({ agents_config }) });
  const cache = openTreeCache(join(home, 'cache', 'skillcell'));
  const { skills } = await findInSource(parseSource('../source', join(home, 'project')), {
    cache,
    lockFolder: join(home, 'project'),
  });
  await addSkills(skills, { lockFile, into: 'taken' });
  await approveSkills({ lockFile, refs: ['allowed', 'denied', 'inner'], as: 'Ana' });
  cache.close();
  const options = { cacheDir: join(home, 'cache', 'skillcell'), lockFile, frozen: true };
  const store = createDirectoryStore({
    path: join(home, 'root'),
    kind: 'builtin',
    cache: openTreeCache(options.cacheDir),
  });
  library = await openSkillLibrary({ stores: [store], ...options, descriptor: { agents_config } });
  client = startMcpClient('v2');
  const flags = ['--descriptor', join(home, 'bundle.json'), '--skills-root', join(home, 'root'), '--frozen'];
  await client.connect(
    stdioConnection([...flags, '--lock', lockFile, '--consumer', CONSUMER, ...(await levelFlags(BEST_LEVEL))], {
      XDG_CACHE_HOME: join(home, 'cache'),
    }),
  );
});
afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await library.close();
  removeTree(home);
});

/** Output of a command line. Ids and reasons of left-out skills are removed: they are for people, and no part of an agent's input. */
async function command(...given: string[]): Promise<string> {
  const argv = ['skills', ...given, '--root', join(home, 'root'), '--descriptor', join(home, 'bundle.json')];
  const { stdout, stderr } = await runMain([...argv, '--consumer', CONSUMER, '--frozen'], {
    cwd: join(home, 'project'),
    env: { HOME: home, XDG_CACHE_HOME: join(home, 'cache') },
  });
  const said = stderr
    .replace(`${SKILLS.unapproved} is not loaded: its bytes are not locked.`, '')
    .replace(`disabled for this consumer: ${SKILLS.denied}.`, '');
  return `${withoutLeftOut(stdout)}\n${said}`;
}

/** JSON without the rows of left-out skills, which hold ids and reasons. */
function withoutLeftOut(stdout: string): string {
  if (!stdout.startsWith('{')) return stdout;
  const { leftOut = [], diagnostics = [], ...rest } = JSON.parse(stdout) as Record<string, object[]>;
  for (const row of leftOut) expect(Object.keys(row)).toEqual(['id', 'reason']);
  const kept = diagnostics.filter((row) => !text(row).includes(`${SKILLS.unapproved} is not loaded: its bytes`));
  return text([rest, kept]);
}

let exports = 0;
/** All files and messages of an export. */
async function exported(ref: string, to: string): Promise<string> {
  const out = join(home, `out-${(exports += 1)}`);
  const said = await command('export', ref, '--to', to, '--output', out);
  const written = readdirSync(out, { recursive: true, encoding: 'utf8' })
    .filter((path) => statSync(join(out, path)).isFile())
    .map((path) => `${path}\n${readFileSync(join(out, path), 'utf8')}`);
  return [said, ...written].join('\n');
}

const text = (value: unknown): string => JSON.stringify(value) ?? '';

/** Replaces addresses of skills by their ids. */
const uris = (value: unknown): string => text(value).replaceAll(/skill:\/\/(\w+)\//g, '$1.');

/** Answers about all skills: they must not even contain the id of a hidden skill. */
const ABOUT_ALL: Record<string, () => Promise<string>> = {
  'library.heads()': async () => text(await library.heads({ consumer: CONSUMER })),
  'library.search()': async () => text(await library.search('common words', { consumer: CONSUMER })),
  'library.subsystem().catalog()': async () => {
    const subsystem = await library.subsystem({ consumer: CONSUMER });
    const { leftOut: _leftOut, ...gallery } = subsystem.skillsGalleryText({ consumer: CONSUMER });
    return text([subsystem.catalog({ consumer: CONSUMER }), gallery]);
  },
  'skills list': async () => await command('list'),
  'skills list --json': async () => await command('list', '--json'),
  'skills list --format xml': async () => await command('list', '--format', 'xml'),
  'skills search': async () => await command('search', 'common words'),
  'skills search --json': async () => await command('search', 'common words', '--json'),
  'skills graph': async () => await command('graph'),
  'skills graph --json': async () => await command('graph', '--json'),
  'MCP list_skills': async () => text(await client.run('list_skills', {})),
  'MCP search_skills': async () => text(await client.run('search_skills', { text: 'common words' })),
  'MCP resources': async () => uris([await client.skills(), await client.resources()]),
};

/** Answers about a named skill: they may contain its name, as the request does. */
const ABOUT_ONE: Record<string, (ref: string) => Promise<string>> = {
  'library.explain()': async (ref) => text(await library.explain(ref, { consumer: CONSUMER })),
  'library.subsystem({ refs })': async (ref) => {
    const subsystem = await library.subsystem({ consumer: CONSUMER, refs: [ref] });
    return text(subsystem.buildSkillsInstructionBlock({ refs: [ref], consumer: CONSUMER }));
  },
  'skills show': async (ref) => await command('show', ref),
  'skills show --json': async (ref) => await command('show', ref, '--json'),
  'skills render': async (ref) => await command('render', ref),
  'skills explain': async (ref) => await command('explain', ref),
  'skills explain --json': async (ref) => await command('explain', ref, '--json'),
  'skills graph REF': async (ref) => await command('graph', ref),
  'skills export --to claude': async (ref) => await exported(ref, 'claude'),
  'skills export --to agents-md': async (ref) => await exported(ref, 'agents-md'),
  'MCP load_skill': async (skill) => text(await client.run('load_skill', { skill })),
  'MCP read_skill_file': async (skill) => text(await client.run('read_skill_file', { skill, path: 'SKILL.md' })),
  'MCP skill://': async (ref) => text(await client.read(`skill://${ref.replace('.', '/')}/SKILL.md`)),
};

describe('denied, internal and unapproved skills', () => {
  it.each(Object.entries(ABOUT_ALL))('stay hidden from %s, which shows the allowed skill', async (_name, ask) => {
    const answer = await ask();
    expect(answer).toContain(SKILLS.allowed);
    for (const kept of [...WORDS, ...KEPT_OUT.map((which) => SKILLS[which])]) expect(answer).not.toContain(kept);
  });

  it.each(Object.entries(ABOUT_ONE))('stay hidden from %s, which shows the allowed skill', async (_name, ask) => {
    const allowed = await ask(SKILLS.allowed);
    expect(allowed).toContain('allowed');
    for (const kept of [...WORDS, ...KEPT_OUT.map((which) => SKILLS[which])]) expect(allowed).not.toContain(kept);
    for (const which of KEPT_OUT) {
      const answer = await ask(SKILLS[which]).catch((error: Error) => String(error));
      for (const kept of WORDS) expect(answer, which).not.toContain(kept);
      const others = Object.values(SKILLS).filter((id) => id !== SKILLS[which] && id !== SKILLS.allowed);
      for (const id of others) expect(answer, which).not.toContain(id);
    }
  });
});
