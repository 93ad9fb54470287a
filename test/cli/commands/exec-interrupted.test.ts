import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { WORK_FOLDER_PREFIX } from '../../../src/sandboxes/local/start-direct.ts';
import { read } from '../../attacks/leftovers.ts';
import { BEST_FLAGS, LEVELS, requireLevel } from '../../fixtures/levels.ts';
import { startQuietClock } from '../../fixtures/quiet-clock.ts';
import { programFolder } from '../../fixtures/program-folder.ts';
import { Collector, startMain } from '../../fixtures/run-main.ts';
import { descendantsOf, isAlive, spawnCli } from '../../fixtures/spawn-cli.ts';
import { until } from '../../fixtures/until.ts';

const folder = programFolder();
const { write } = folder;

/** Folders of sandboxes that a process started; their names hold its id. */
function workFoldersOf(pid: number): string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith(WORK_FOLDER_PREFIX) && name.includes(`-${pid}-`));
}

/** A program that does not end at SIGTERM. */
const LOOP = [
  'process.on("SIGTERM", () => console.log("told"));',
  'console.log("up");',
  'setInterval(() => undefined, 100);',
];

/** Ends a second after SIGTERM, well before it would be killed and leave files to the next sweep. */
const SLOW = ['process.on("SIGTERM", () => setTimeout(() => process.exit(), 1_000));', ...LOOP.slice(1)];

describe('an interrupted skillcell exec', () => {
  const ENDINGS = [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const;

  it.for(LEVELS.flatMap((isolation) => ENDINGS.map(([signal, code]) => [isolation, signal, code] as const)))(
    'at level %s ends within 3 s of %s and leaves nothing',
    async ([isolation, signal, code], context) => {
      requireLevel(context, isolation);
      const where = ['--runner', 'local', '--isolation', isolation, '--output', 'out'];
      const child = spawnCli(['exec', write('slow.mjs', ...SLOW), ...where], { cwd: folder.path });
      await once(child.stdout!, 'data');
      const processes = descendantsOf(child.pid!);
      expect(processes.length).toBeGreaterThan(0);
      if (isolation === 'none') expect(workFoldersOf(child.pid!)).toHaveLength(1);
      const elapsedMs = startQuietClock();
      child.kill(signal);
      expect(await once(child, 'close')).toEqual([code, null]);
      expect(elapsedMs()).toBeLessThan(3_000);
      await until(() => !processes.some(isAlive), 'the end of all processes');
      expect(workFoldersOf(child.pid!)).toEqual([]);
      expect(existsSync(join(folder.path, 'out'))).toBe(false);
    },
  );

  it('leaves no supervisor that the program has stopped', async (context) => {
    requireLevel(context, 'none');
    const stops = ['process.kill(process.ppid, "SIGSTOP");', ...LOOP.slice(1)];
    const child = spawnCli(['exec', write('stops.mjs', ...stops), '--isolation', 'none'], { cwd: folder.path });
    const stopped = (pid: number): boolean => /^State:\sT/m.test(read(pid, 'status'));
    await until(() => descendantsOf(child.pid!).some(stopped), 'the stop of the supervisor');
    const processes = descendantsOf(child.pid!);
    child.kill('SIGTERM');
    expect(await once(child, 'close')).toEqual([143, null]);
    await until(() => !processes.some(isAlive), 'the end of all processes');
  });

  it('prints the result of the canceled job with --json', async () => {
    const token = `loop-${process.pid}`;
    const file = write('loop.mjs', `process.title = '${token}';`, LOOP.at(-1)!);
    const child = spawnCli(['exec', ...BEST_FLAGS, file, '--json', '--runner', 'local'], { cwd: folder.path });
    const runs = (pid: number): boolean => read(pid, 'cmdline').startsWith(token);
    await until(() => descendantsOf(child.pid!).some(runs), 'the start of the program');
    child.kill('SIGINT');
    const chunks: Buffer[] = [];
    child.stdout!.on('data', (chunk: Buffer) => chunks.push(chunk));
    expect(await once(child, 'close')).toEqual([130, null]);
    expect(JSON.parse(Buffer.concat(chunks).toString())).toMatchObject({ outcome: 'canceled' });
  });

  it('ends cleanly after one signal, and reports it', async () => {
    const child = spawnCli(['exec', ...BEST_FLAGS, write('slow.mjs', ...SLOW)], { cwd: folder.path });
    await once(child.stdout!, 'data');
    const processes = descendantsOf(child.pid!);
    let stderr = '';
    child.stderr!.on('data', (bytes: Buffer) => (stderr += String(bytes)));
    child.kill('SIGINT');
    expect(await once(child, 'close')).toEqual([130, null]);
    expect(stderr).toContain('error: Canceled: SIGINT came\n');
    expect(stderr).not.toContain('SIGINT came again');
    await until(() => !processes.some(isAlive), 'the end of all processes');
  });

  it('ends at once after a second signal, and reports both', async () => {
    const stdout = new Collector();
    const run = startMain(['exec', ...BEST_FLAGS, write('loop.mjs', ...LOOP)], { cwd: folder.path, stdout });
    await until(() => stdout.chunks.length > 0, 'the start of the program');
    run.signal('SIGINT');
    // Two signals within 300 ms are one. The program ignores TERM, and has its grace of 2 s.
    await pause(400);
    run.signal('SIGINT');
    const { code, stderr } = await run.done;
    expect(code).toBe(130);
    expect(stderr).toMatch(/error: Canceled: SIGINT came\n(.*\n)*.*SIGINT came again/);
  });

  it('counts a signal that comes twice in a moment, as through a launcher, as one', async () => {
    const stdout = new Collector();
    const file = write('quick.mjs', ...LOOP.slice(1));
    const run = startMain(['exec', ...BEST_FLAGS, file], { cwd: folder.path, stdout });
    await until(() => stdout.chunks.length > 0, 'the start of the program');
    run.signal('SIGINT');
    run.signal('SIGINT');
    const { code, stderr } = await run.done;
    expect(code).toBe(130);
    expect(stderr).toContain('outcome: canceled');
    expect(run.exits).toEqual([]);
  });

  it.each([[[]], [['--json']]])('ends with 141 when the reader of its output went away %j', async (flags) => {
    const file = write('flood.mjs', 'const go = () => { console.log("x".repeat(100)); setTimeout(go, 5); }; go();');
    const child = spawnCli(['exec', ...BEST_FLAGS, file, '--timeout', '20', ...flags], { cwd: folder.path });
    child.stdout!.destroy();
    const errors: Buffer[] = [];
    child.stderr!.on('data', (chunk: Buffer) => errors.push(chunk));
    if (flags.length > 0) {
      await once(child.stderr!, 'data');
      child.kill('SIGINT');
    }
    const [code] = (await once(child, 'close')) as [number];
    expect(code).toBe(flags.length > 0 ? 130 : 141);
    expect(Buffer.concat(errors).toString()).not.toContain('EPIPE');
  });

  it('prints the last output of the program completely', async () => {
    const file = write(
      'tidy.sh',
      "trap 'head -c 300000 /dev/zero | tr \\\\0 T; echo bye >&2; exit 4' TERM; echo up",
      'sleep 60 & wait $!',
    );
    const child = spawnCli(['exec', ...BEST_FLAGS, file], { cwd: folder.path });
    const [stdout, stderr] = [text(child.stdout!), text(child.stderr!)];
    await once(child.stdout!, 'readable');
    child.kill('SIGINT');
    expect(await once(child, 'close')).toEqual([130, null]);
    expect((await stdout).length).toBe(3 + 300_000);
    expect(await stderr).toContain('bye\n');
  });

  it('is not blocked by a reader that reads nothing, and reports the missing bytes', async () => {
    const child = spawnCli(['exec', ...BEST_FLAGS, write('flood.sh', 'yes')], { cwd: folder.path });
    await once(child.stdout!, 'readable');
    // Long enough to fill all buffers on the way.
    await pause(500);
    const elapsedMs = startQuietClock();
    child.kill('SIGINT');
    const stderr = text(child.stderr!);
    expect(await once(child, 'exit')).toEqual([130, null]);
    expect(elapsedMs()).toBeLessThan(1_500);
    child.stdout!.destroy();
    expect(await stderr).toMatch(/^The reader of the output took nothing for 0\.5 s: \d+ bytes are not written\.$/m);
  });
});
