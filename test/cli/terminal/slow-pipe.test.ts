import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import type { JobResult } from '../../../src/contracts/jobs/result.ts';
import { BEST_FLAGS } from '../../fixtures/levels.ts';
import { expectedOutput, outputProgram } from '../../fixtures/output/output-programs.ts';

const launcher = fileURLToPath(new URL('../../../bin/skillcell.js', import.meta.url));
const BYTES = 900_000;
const folder = mkdtempSync(join(tmpdir(), 'slow-pipe-'));
const program = join(folder, 'program.mjs');
writeFileSync(program, outputProgram('javascript', 'exit', 'lines', BYTES));
afterAll(() => rmSync(folder, { recursive: true }));

/** The output of a shell pipe whose reader begins a second after its writer. */
const LATE = '"$@" 2>/dev/null | { sleep 1; cat; }';
/** The same, but the reader begins when the writer has ended, however long that takes. */
const AFTERWARDS = '{ "$@"; : >ended; } | { until [ -e ended ]; do sleep 0.1; done; cat; }';

async function throughPipe(pipe: string, argv: string[]): Promise<Buffer> {
  const child = spawn('/bin/sh', ['-c', pipe, 'sh', process.execPath, ...argv], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(child, 'close');
  return Buffer.concat(chunks);
}

it('a bare Node loses output in a pipe whose reader is late', async () => {
  const bare = await throughPipe(AFTERWARDS, [program]);
  expect(bare.length).toBeLessThan(BYTES);
});

it('skillcell exec prints all output of the program into a pipe whose reader is late', async () => {
  const printed = await throughPipe(LATE, [launcher, 'exec', program, ...BEST_FLAGS]);
  expect(printed.equals(expectedOutput('exit', 'lines', BYTES).stdout)).toBe(true);
});

it('skillcell exec --json prints the whole document into such a pipe', async () => {
  const printed = await throughPipe(LATE, [launcher, 'exec', program, '--json', ...BEST_FLAGS]);
  const { stdout } = JSON.parse(printed.toString()) as JobResult;
  expect(stdout).toEqual({
    text: expectedOutput('exit', 'lines', BYTES).stdout.toString(),
    bytes: BYTES,
    truncated: false,
  });
});
