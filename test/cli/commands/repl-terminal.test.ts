import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { MISSING_SCRIPT, requireHere } from '../../fixtures/describe-with.ts';
import { BEST_FLAGS } from '../../fixtures/levels.ts';
import { until } from '../../fixtures/until.ts';

const program = fileURLToPath(new URL('../../../bin/skillcell.js', import.meta.url));
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';

let cwd: string;
let started: ChildProcess | undefined;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'cli-terminal-'));
});
afterEach(() => {
  started?.kill('SIGKILL');
  rmSync(cwd, { recursive: true });
});

/** A command line at a terminal of its own. */
interface AtTerminal {
  type(keys: string): void;
  /** Waits for a text after all texts that were waited for before. */
  shows(text: string): Promise<void>;
  ends(): Promise<{ code: number; screen: string }>;
}

function startRepl(...argv: string[]): AtTerminal {
  const command = [process.execPath, program, 'repl', '--runner', 'local', ...BEST_FLAGS, ...argv];
  const child = spawn('script', ['-qefc', command.map((word) => `'${word}'`).join(' '), '/dev/null'], { cwd });
  started = child;
  let screen = '';
  let seen = 0;
  child.stdout.on('data', (bytes: Buffer) => (screen += bytes.toString()));
  return {
    type: (keys) => void child.stdin.write(keys),
    async shows(text) {
      const at = (): number => stripVTControlCharacters(screen).indexOf(text, seen);
      await until(() => at() >= 0, `${JSON.stringify(text)} behind ${JSON.stringify(screen.slice(-500))}`, 120_000);
      seen = at() + text.length;
    },
    async ends() {
      const [code] = (await once(child, 'close')) as [number];
      return { code, screen: stripVTControlCharacters(screen) };
    },
  };
}

it('Ctrl-C discards typed lines or stops a run, and .exit ends the session with all earlier definitions', async (context) => {
  requireHere(context, MISSING_SCRIPT);
  const terminal = startRepl('--session-out', 'out.tar');
  await terminal.shows('javascript> ');
  terminal.type('globalThis.kept = 20 + 1\r');
  await terminal.shows('\n21');
  await terminal.shows('javascript> ');
  terminal.type('globalThis.kept = "half a li');
  await terminal.shows('half a li');
  terminal.type(CTRL_C);
  await terminal.shows('javascript> ');
  terminal.type('globalThis.kept = [\r');
  await terminal.shows('... ');
  terminal.type(`5${CTRL_C}`);
  await terminal.shows('javascript> ');
  terminal.type(CTRL_C);
  await terminal.shows('(Ctrl-D or .exit ends the session)');
  await terminal.shows('javascript> ');
  terminal.type('console.log("begun".length); for (;;) {}\r');
  await terminal.shows('\n5');
  terminal.type(CTRL_C);
  await terminal.shows('run 2: canceled');
  await terminal.shows('javascript> ');
  terminal.type('kept * 2\r');
  await terminal.shows('\n42');
  await terminal.shows('javascript> ');
  terminal.type('.exit\r');
  const { code, screen } = await terminal.ends();
  expect(screen).not.toContain('Cannot');
  // One run failed: the stopped one.
  expect(code).toBe(1);
  expect(execFileSync('tar', ['-tf', join(cwd, 'out.tar')], { encoding: 'utf8' })).toBe('');
});

it('Ctrl-D ends the session without running an open block', async (context) => {
  requireHere(context, MISSING_SCRIPT);
  const terminal = startRepl('--session-out', 'out.tar');
  await terminal.shows('javascript> ');
  terminal.type("require('node:fs').writeFileSync(\r");
  await terminal.shows('... ');
  terminal.type('"made.txt", "made"\r');
  await terminal.shows('... ');
  terminal.type(CTRL_D);
  expect((await terminal.ends()).code).toBe(0);
  expect(existsSync(join(cwd, 'out.tar'))).toBe(true);
  expect(execFileSync('tar', ['-tf', join(cwd, 'out.tar')], { encoding: 'utf8' })).toBe('');
});
