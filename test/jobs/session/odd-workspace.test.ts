import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Session, SessionOptions } from '../../../src/contracts/jobs/session.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import type { Orchestrator } from '../../../src/jobs/orchestrator.ts';
import { readArchive } from '../../../src/jobs/session/read-archive.ts';
import { ALL_LEVELS, everyRunner, requireEachLevel, type EachLevel, runnerOf } from '../../fixtures/every-level.ts';

let stateDir: string;
let orchestrator: Orchestrator;
beforeAll(async () => {
  stateDir = mkdtempSync(join(tmpdir(), 'odd-workspace-'));
  orchestrator = createOrchestrator({ runners: await everyRunner(), allowUnisolated: true, stateDir });
});
afterAll(async () => {
  await orchestrator.close();
  rmSync(stateDir, { recursive: true });
});

const DEEPEST = `${'d/'.repeat(63)}f.txt`;
const UNSAYABLE = 'control character, backslash or invalid UTF-8 in the name';
const OVER_ALL_BYTES = 'the files together are over 134217728 bytes';
const CLOSED = `
  const fs = require('node:fs');
  fs.writeFileSync('plain.txt', 'plain');
  fs.writeFileSync('closed.txt', 'x'); fs.chmodSync('closed.txt', 0);
  fs.mkdirSync('shut'); fs.writeFileSync('shut/in.txt', 'x'); fs.chmodSync('shut', 0);`;
const NAMELESS = `
  fs.writeFileSync(Buffer.from([0x62, 0xe9, 0x72]), 'x');
  fs.mkdirSync(Buffer.from([0xff])); fs.writeFileSync(Buffer.from([0xff, 0x2f, 0x61]), 'x');
  fs.mkdirSync('empty/deep', { recursive: true });`;

describe.each(ALL_LEVELS)('an odd workspace at level %s', (level) => {
  const options: SessionOptions = { isolation: level, runner: runnerOf(level) };
  const open = (more: Partial<SessionOptions> = {}): Promise<Session> => orchestrator.session({ ...options, ...more });

  it('keeps the rest if a file and a folder are closed to their owner', async (context) => {
    requireEachLevel(context, level);
    await using session = await open();
    await session.run(CLOSED);
    const listed = await session.files.list();
    const { archive, omitted } = await session.export();
    const isReadable = readsAll(level);
    expect(listed.map(({ path, kind, fault }) => [path, kind, fault])).toEqual([
      ['closed.txt', 'file', undefined],
      ['out', 'folder', undefined],
      ['plain.txt', 'file', undefined],
      ['shut', 'folder', isReadable ? undefined : 'unreadable (EACCES)'],
      ...(isReadable ? [['shut/in.txt', 'file', undefined]] : []),
    ]);
    expect(omitted).toEqual(
      isReadable ? [] : ['closed.txt', 'shut'].map((path) => ({ path, reason: 'unreadable (EACCES)' })),
    );
    expect(await namesIn(archive)).toEqual(isReadable ? ['closed.txt', 'plain.txt', 'shut/in.txt'] : ['plain.txt']);
    await session.files.write('new.txt', 'new');
    await session.files.delete('closed.txt');
    expect((await session.files.list()).map(({ path }) => path)).toContain('new.txt');
  });

  it('exports files at any allowed depth, and names deeper folders', async (context) => {
    requireEachLevel(context, level);
    await using session = await open({ files: { [DEEPEST]: 'given' } });
    await session.files.write(DEEPEST.replace('f.txt', 'g.txt'), 'written');
    await session.run(`require('node:fs').mkdirSync('${'d/'.repeat(70)}', { recursive: true });`);
    const last = (await session.files.list()).filter(({ path }) => path.split('/').length >= 64);
    const { archive, omitted } = await session.export();
    const deeper = DEEPEST.replace('f.txt', 'd');
    expect(last.map(({ path, kind, fault }) => [path.slice(126), kind, fault])).toEqual([
      ['d', 'folder', 'deeper than 64 folders'],
      ['f.txt', 'file', undefined],
      ['g.txt', 'file', undefined],
    ]);
    expect(omitted).toEqual([{ path: deeper, reason: 'deeper than 64 folders' }]);
    await using second = await open({ files: await readArchive(archive, { files: 9, bytes: 1_000 }) });
    expect(await second.files.read(DEEPEST.replace('f.txt', 'g.txt'), 'utf8')).toBe('written');
  });

  it('names entries that an archive cannot hold: a name that is not UTF-8, an empty folder, too many bytes', async (context) => {
    requireEachLevel(context, level);
    await using session = await open();
    const made = await session.run(`const fs = require('node:fs'); ${NAMELESS}
      for (const name of ['hole-1', 'hole-2']) fs.ftruncateSync(fs.openSync(name, 'w'), 100 * 1024 * 1024);`);
    expect(made.outcome).toBe('succeeded');
    const NOT_UTF8 = 'its name is not UTF-8';
    const { archive, omitted } = await session.export();
    expect(omitted).toEqual([
      { path: 'bér', reason: NOT_UTF8 },
      { path: 'empty/deep', reason: 'an empty folder' },
      { path: 'hole-2', reason: OVER_ALL_BYTES },
      { path: 'ÿ', reason: NOT_UTF8 },
    ]);
    expect(await namesIn(archive)).toEqual(['hole-1']);
    const odd = (await session.files.list()).filter(({ fault }) => fault !== undefined);
    expect(odd).toEqual(['bér', 'ÿ'].map((path) => ({ path, kind: 'other', bytes: 0, fault: NOT_UTF8 })));
  });

  it('lists names of any length and kind row by row', async (context) => {
    requireEachLevel(context, level);
    await using session = await open();
    // In JSON each of these characters takes six bytes.
    const made = await session.run(`const fs = require('node:fs'); fs.writeFileSync('ok.txt', 'ok');
      fs.mkdirSync(Array(14).fill('\\x01'.repeat(250)).join('/'), { recursive: true });
      for (let at = 0; at < 20; at++) { fs.mkdirSync('n'.repeat(250)); process.chdir('n'.repeat(250)); }
      process.chdir(process.env.WORKSPACE);`);
    expect(made.outcome).toBe('succeeded');
    const listed = await session.files.list();
    expect(listed.map(({ path }) => path)).toContain('ok.txt');
    expect(listed.filter(({ fault }) => fault !== undefined)).toEqual([
      ...Array.from({ length: 14 }, () => ({
        kind: 'folder',
        bytes: 0,
        path: expect.any(String) as unknown,
        fault: UNSAYABLE,
      })),
      { path: expect.stringMatching(/^n+[n/]+…$/) as unknown, kind: 'other', bytes: 0, fault: 'path over 4,096 bytes' },
    ]);
    const { archive, omitted } = await session.export();
    expect(await namesIn(archive)).toEqual(['ok.txt']);
    expect(omitted.map(({ reason }) => reason)).toEqual(['an empty folder', 'path over 4,096 bytes']);
  });

  it('omits a file in place of its output folder, because a session cannot begin with it', async (context) => {
    requireEachLevel(context, level);
    await using session = await open();
    await session.run("const fs = require('node:fs'); fs.rmdirSync('out'); fs.writeFileSync('out', 'f')");
    const { archive, omitted } = await session.export();
    expect(omitted).toEqual([{ path: 'out', reason: 'it stands where the output folder should' }]);
    expect(await namesIn(archive)).toEqual([]);
  });

  it('is not kept if it has more entries than an export can list', { timeout: 300_000 }, async (context) => {
    requireEachLevel(context, level);
    const sessionId = `large-${level}`;
    const limits = { workspaceInodes: 30_000 };
    const session = await open({ sessionId, idleTimeoutMs: 3_000, limits });
    await session.run("for (let at = 0; at < 20_000; at++) require('node:fs').writeFileSync(`f${at}`, '')");
    const listed = await session.files.list();
    expect(listed).toHaveLength(20_001);
    expect(listed.at(-1)).toMatchObject({ path: '…', fault: 'not all entries were looked at' });
    const { omitted } = await session.export();
    expect(omitted).toEqual([{ path: '…', reason: 'not all entries were looked at' }]);
    const { diagnostics } = await session.ended;
    expect(diagnostics.map(({ message }) => message)).toContain(
      'Its workspace could not be kept: it has more entries than an export can list.',
    );
    expect(existsSync(join(stateDir, 'sessions', `${sessionId}.tar`))).toBe(false);
  });

  it('is kept at an idle end, which names the omitted entries, and can be resumed', async (context) => {
    requireEachLevel(context, level);
    const sessionId = `odd-${level}`;
    const session = await open({ sessionId, idleTimeoutMs: 1_000 });
    await session.run(`${CLOSED} ${NAMELESS} fs.mkdirSync('${'d/'.repeat(70)}', { recursive: true });`);
    const { outcome, diagnostics } = await session.ended;
    const left = diagnostics.find(({ code }) => code === 'file.omitted')?.message ?? '';
    expect(outcome).toBe('succeeded');
    expect(existsSync(join(stateDir, 'sessions', `${sessionId}.tar`))).toBe(true);
    for (const named of ['bér', 'empty/deep (an empty folder)', 'd (deeper than 64 folders)'])
      expect(left).toContain(named);
    if (!readsAll(level)) expect(left).toContain('closed.txt (unreadable (EACCES))');
    await using next = await open({ resume: sessionId });
    expect(await next.files.read('plain.txt', 'utf8')).toBe('plain');
  });
});

/** Whether permissions have no effect: code at level none has the rights of the user who started it, possibly root. */
function readsAll(level: EachLevel): boolean {
  return level === 'none' && !readFileSync('/proc/self/status', 'utf8').includes('CapEff:\t0000000000000000');
}

async function namesIn(archive: Uint8Array): Promise<string[]> {
  const files = await readArchive(archive, { files: 100, bytes: 1024 * 1024 * 1024 });
  return files.map(({ destination }) => destination);
}
