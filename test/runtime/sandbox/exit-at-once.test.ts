import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';

const MODULE = fileURLToPath(new URL('../../../runtime/sandbox/exit-at-once.ts', import.meta.url));

/** Runs a program that has imported `exitAtOnce` and has an exit handler that writes the exit code. */
function start(code: string): ChildProcess {
  const program = `import { exitAtOnce } from ${JSON.stringify(MODULE)};
    process.on('exit', (given) => process.stdout.write('handler ' + given));
    ${code}`;
  return spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'ignore'] });
}

it.each([0, 1])('exitAtOnce() runs the exit handlers and ends with %i', async (code) => {
  const program = start(`exitAtOnce(${code})`);
  const [stdout, ended] = await Promise.all([text(program.stdout!), once(program, 'close')]);
  expect({ stdout, ended }).toEqual({ stdout: `handler ${code}`, ended: [code, null] });
});

it('exitAtOnce() does not wait for a thread that hangs, as process.exit() does', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'exit-'));
  const fifo = join(folder, 'fifo');
  execFileSync('/usr/bin/mkfifo', [fifo]);
  // One of Node's own threads opens the fifo and hangs, because there is no writer.
  const hang = `(await import('node:fs')).open(${JSON.stringify(fifo)}, 'r', () => undefined);
    await new Promise((resolve) => setTimeout(resolve, 50));`;
  const held = start(`${hang} process.exit(3)`);
  try {
    await once(held.stdout!, 'data');
    const program = start(`${hang} exitAtOnce(3)`);
    expect(await once(program, 'exit')).toEqual([3, null]);
    expect(held.exitCode).toBe(null);
  } finally {
    held.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  }
});
