import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { removeTree } from '../../src/durable/remove-tree.ts';
import { openSkillLibrary } from '../../src/library/open-skill-library.ts';
import { compareCodePoints } from '../../src/skills/text/text.ts';
import { openTreeCache } from '../../src/library/stores/cache/tree-cache.ts';
import { createDirectoryStore } from '../../src/library/stores/directory/directory-store.ts';
import { writeTree } from '../conformance/write-tree.ts';

let home: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'random-edits-')));
});
afterEach(() => removeTree(home));

/** Edits one file after the other, by a seed, in bursts with pauses between, and logs each state before its edit. */
const EDITOR = `
  import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
  const [root, log, seed, edits] = [process.argv[1], process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
  let state = seed;
  const random = (most) => (state = (state * 1103515245 + 12345) % 2147483648) % most;
  const skills = { a: { body: '0', data: '0' }, b: { body: '0', data: '0' }, c: { body: '0', data: '0' } };
  const note = () => appendFileSync(log, JSON.stringify(skills) + '\\n');
  const text = (name, body) => '---\\nname: ' + name + '\\ndescription: Is ' + name + '.\\n---\\n' + body + '\\n';
  for (let edit = 1; edit <= edits; edit += 1) {
    const name = 'abc'[random(3)];
    const folder = root + '/' + name;
    const value = String(edit % 10);
    const kind = random(4);
    if (skills[name] === undefined) {
      // Each write makes a state of its own: without SKILL.md it is not a skill yet.
      mkdirSync(folder);
      writeFileSync(folder + '/data.txt', value);
      skills[name] = { body: value, data: value };
      note();
      writeFileSync(folder + '/SKILL.md', text(name, value));
    } else if (kind === 0) {
      delete skills[name];
      note();
      // In one step, as a removal file by file would make further states.
      const { renameSync } = await import('node:fs');
      renameSync(folder, root + '/../gone-' + edit);
    } else {
      const part = kind === 1 ? 'body' : 'data';
      skills[name] = { ...skills[name], [part]: value };
      note();
      // A rename, as a write would make a state with an empty file.
      const { renameSync } = await import('node:fs');
      writeFileSync(root + '/../next', part === 'body' ? text(name, value) : value);
      renameSync(root + '/../next', folder + (part === 'body' ? '/SKILL.md' : '/data.txt'));
    }
    if (random(6) === 0) await new Promise((resolve) => setTimeout(resolve, 60 + random(60)));
  }`;

describe('a library beside random edits', () => {
  it.each([1, 2, 3])('sees only states that existed, and finally the last one (seed %i)', async (seed) => {
    const root = join(home, 'skills');
    const log = join(home, 'states');
    const first = { a: { body: '0', data: '0' }, b: { body: '0', data: '0' }, c: { body: '0', data: '0' } };
    for (const name of Object.keys(first)) {
      writeTree(join(root, name), {
        'SKILL.md': `---\nname: ${name}\ndescription: Is ${name}.\n---\n0\n`,
        'data.txt': '0',
      });
    }
    const cacheDir = join(home, 'cache');
    const store = createDirectoryStore({ path: root, kind: 'user', cache: openTreeCache(cacheDir) });
    await using library = await openSkillLibrary({ stores: [store], cacheDir, lookIntervalMs: 20 });
    using _watch = library.subscribe(() => undefined);
    const editor = spawn(process.execPath, ['--input-type=module', '-e', EDITOR, root, log, String(seed), '150'], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    let isOver = false;
    const ended = once(editor, 'exit').then(() => (isOver = true));
    const seen = new Set<string>();
    const look = async (): Promise<void> => {
      const subsystem = await library.subsystem();
      const state = subsystem.skills.map(({ skillId, body, id }) => {
        const data = Buffer.from(subsystem.skillTree(id).get('data.txt')?.bytes ?? []).toString();
        return [skillId, { body: body.trim(), data }];
      });
      seen.add(JSON.stringify(Object.fromEntries(state)));
    };
    while (!isOver) {
      // A folder that keeps changing counts as out of reach, and is never shown half.
      await look().catch((error: { code?: string }) =>
        expect(['store.unavailable', 'store.changed']).toContain(error.code),
      );
      await sleep(5);
    }
    await ended;
    await library.refresh();
    await look();
    const sorted = (text: string): string =>
      JSON.stringify(
        Object.fromEntries(Object.entries(JSON.parse(text) as object).toSorted(([a], [b]) => compareCodePoints(a, b))),
      );
    const states = (existsSync(log) ? readFileSync(log, 'utf8') : '').trim().split('\n').map(sorted);
    const existed = new Set([JSON.stringify(first), ...states]);
    expect([...seen].filter((state) => !existed.has(state))).toEqual([]);
    expect(seen.has(states.at(-1) ?? '')).toBe(true);
    expect(seen.size).toBeGreaterThan(2);
  });
});
