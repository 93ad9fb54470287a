import { mkdirSync, mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { removeTree } from '../../../src/durable/remove-tree.ts';
import {
  findInSource,
  type FindInSourceOptions,
  type SourceContents,
} from '../../../src/library/sources/find-in-source.ts';
import { parseSource } from '../../../src/library/sources/parse-source.ts';
import { openTreeCache } from '../../../src/library/stores/cache/tree-cache.ts';
import { writeTree } from '../../conformance/write-tree.ts';
import { serveLocally } from '../../fixtures/outgoing/local-server.ts';
import { skillSite, tarOf } from '../../fixtures/outgoing/skill-site.ts';
import { skillText } from '../../fixtures/source-of.ts';

let cwd: string;
beforeEach(() => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), 'find-in-source-')));
  mkdirSync(join(cwd, 'repo'));
  writeTree(join(cwd, 'repo'), {
    'skills/a/SKILL.md': skillText('a'),
    'skills/a/deep/b/SKILL.md': skillText('b'),
    'skills/a/linked': { symlink: '/etc/passwd' },
    'far/x/SKILL.md': skillText('x'),
    '.claude-plugin/marketplace.json': JSON.stringify({
      plugins: [{ name: 'press', source: './', strict: false, skills: ['./skills/a'] }],
    }),
  });
});
afterEach(() => removeTree(cwd));

/** Skills with their plugins, and the codes of all diagnostics. */
async function come(
  text: string,
  options: Partial<FindInSourceOptions> = {},
): Promise<{ skills: string[]; codes: string[] }> {
  const { skills, diagnostics } = await findInSource(parseSource(text, cwd), {
    cache: openTreeCache(join(cwd, 'cache')),
    lockFolder: cwd,
    ...options,
  });
  return {
    skills: skills.map(({ skill, origin }) => `${skill.id} ${origin.source}:${origin.folder} ${origin.plugin ?? ''}`),
    codes: diagnostics.map(({ code, path }) => `${code} ${path ?? ''}`),
  };
}

describe('findInSource()', () => {
  it('takes the skills that marketplaces list, with their plugin, and reports each left-out name once', async () => {
    expect(await come('./repo')).toEqual({
      skills: ['custom.x ./repo:far/x ', 'custom.a ./repo:skills/a press'],
      codes: ['skill.nested skills/a/deep/b/SKILL.md', 'skill.link skills/a/linked'],
    });
  });

  it('does not report a taken skill as left out', async () => {
    expect(await come('./repo:skills', { nested: true })).toEqual({
      skills: ['custom.a ./repo:skills/a press', 'custom.b ./repo:skills/a/deep/b '],
      codes: ['skill.link skills/a/linked'],
    });
  });

  it('takes the other skills of a source where some are refused, but nothing during an outage', async () => {
    const site = skillSite();
    await using server = await serveLocally((request, response) => site.listener(request, response));
    const root = '/.well-known/agent-skills';
    site.publish('units', skillText('units'));
    site.publish('changed', skillText('changed'));
    site.files.set(`${root}/changed/SKILL.md`, skillText('changed').replace('Body', 'Other body'));
    site.publish('hostile', await tarOf({ 'SKILL.md': skillText('hostile'), '../outside.md': '' }));
    site.publish('inside', skillText('inside'));
    site.entries.set('inside', { ...site.entries.get('inside'), url: 'http://169.254.169.254/SKILL.md' });
    site.publish('last', skillText('last'));
    const find = (): Promise<SourceContents> =>
      findInSource(parseSource(`http://127.0.0.1:${server.port}`, cwd), {
        cache: openTreeCache(join(cwd, 'cache')),
        lockFolder: cwd,
        allowPrivate: [`127.0.0.1:${server.port}`],
      });
    const { skills, refused, diagnostics } = await find();
    expect(skills.map(({ skill }) => skill.id)).toEqual(['custom.units', 'custom.last']);
    expect(refused.map(({ folder, error }) => `${folder} ${error.code}`)).toEqual([
      'changed store.changed',
      'hostile archive.refused',
      'inside source.refused',
    ]);
    expect(diagnostics.map(({ code, path }) => `${code} ${path}`)).toEqual([
      'source.skill changed/SKILL.md',
      'source.skill hostile/SKILL.md',
      'source.skill inside/SKILL.md',
    ]);
    site.publish('down', skillText('down'));
    site.files.set(`${root}/down/SKILL.md`, (_request, response) => void response.writeHead(503).end());
    await expect(find()).rejects.toMatchObject({ code: 'store.unavailable' });
  });
});
