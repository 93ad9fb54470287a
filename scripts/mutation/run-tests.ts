import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { contained } from './contain.ts';

/** How some tests ended in a tree. */
export type TestEnd =
  | { end: 'passed' }
  /** With the first test that failed; a file that could not be loaded has no name. */
  | { end: 'failed'; file: string; name?: string }
  | { end: 'timeout' }
  | { end: 'crashed' };

interface Report {
  testResults: {
    name: string;
    status: string;
    assertionResults: { ancestorTitles: string[]; title: string; status: string }[];
  }[];
}

export interface RunOptions {
  /** For all of them, and for each test. */
  timeoutMs: number;
  testTimeoutMs: number;
  /** A part of the name of the tests that are meant. */
  name?: string;
  /** The checkout, where the tests are to be contained in the tree. */
  root: string | undefined;
}

/** Runs test files in a tree until the first failure. */
export async function runTests(folder: string, files: readonly string[], options: RunOptions): Promise<TestEnd> {
  const report = join(folder, '.toolchain', 'report.json');
  const words = [
    process.execPath,
    'node_modules/vitest/vitest.mjs',
    'run',
    ...files,
    // It writes nothing beside the packages.
    '--configLoader=native',
    '--bail=1',
    `--testTimeout=${options.testTimeoutMs}`,
    '--reporter=json',
    `--outputFile=${report}`,
  ];
  if (options.name !== undefined) words.push('-t', options.name.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  // A test that is skipped here is none that notices; only in CI is it a failure.
  const env = { ...process.env, CI: '', NO_COLOR: '1' };
  const [program = '', ...args] = options.root === undefined ? words : contained(folder, options.root, words);
  const child = spawn(program, args, { cwd: folder, env, stdio: 'ignore', detached: true });
  let late = false;
  const kill = (): void => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  };
  process.once('exit', kill);
  const timer = setTimeout(() => {
    late = true;
    kill();
  }, options.timeoutMs);
  const code = await new Promise<number | null>((resolve) => {
    child.once('exit', resolve);
    child.once('error', () => resolve(null));
  });
  process.off('exit', kill);
  clearTimeout(timer);
  try {
    if (late) return { end: 'timeout' };
    if (code === 0) return { end: 'passed' };
    return firstFailure(readFileSync(report, 'utf8'), folder);
  } catch {
    // It ended before it could write what it saw.
    return { end: 'crashed' };
  } finally {
    rmSync(report, { force: true });
  }
}

function firstFailure(text: string, folder: string): TestEnd {
  const files = (JSON.parse(text) as Report).testResults.map((row) => ({
    ...row,
    file: row.name.replace(`${folder}/`, ''),
  }));
  for (const { file, assertionResults } of files) {
    const failed = assertionResults.find((row) => row.status === 'failed');
    // As vitest itself joins them where it looks for a name.
    if (failed !== undefined)
      return { end: 'failed', file, name: [...failed.ancestorTitles, failed.title].join(' > ') };
  }
  // A file that did not get its turn is one as well: only where no test failed is it one that could not be loaded.
  const unloaded = files.find(({ status }) => status === 'failed');
  return unloaded === undefined ? { end: 'crashed' } : { end: 'failed', file: unloaded.file };
}
