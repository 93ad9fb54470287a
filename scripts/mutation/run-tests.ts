import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

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

/** Runs test files in a tree until the first failure. */
export async function runTests(
  folder: string,
  files: readonly string[],
  options: { timeoutMs: number; testTimeoutMs: number; name?: string },
): Promise<TestEnd> {
  const output = mkdtempSync(join(tmpdir(), 'mutation-'));
  const report = join(output, 'report.json');
  const words = [
    'node_modules/vitest/vitest.mjs',
    'run',
    ...files,
    '--bail=1',
    `--testTimeout=${options.testTimeoutMs}`,
    '--reporter=json',
    `--outputFile=${report}`,
  ];
  if (options.name !== undefined) words.push('-t', options.name.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  // A test that is skipped here is none that notices; only in CI is it a failure.
  const env = { ...process.env, CI: '', NO_COLOR: '1' };
  const child = spawn(process.execPath, words, { cwd: folder, env, stdio: 'ignore', detached: true });
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    process.kill(-(child.pid ?? 0), 'SIGKILL');
  }, options.timeoutMs);
  const code = await new Promise<number | null>((resolve) => {
    child.once('exit', resolve);
    child.once('error', () => resolve(null));
  });
  clearTimeout(timer);
  try {
    if (late) return { end: 'timeout' };
    if (code === 0) return { end: 'passed' };
    return firstFailure(readFileSync(report, 'utf8'), folder);
  } catch {
    // It ended before it could write what it saw.
    return { end: 'crashed' };
  } finally {
    rmSync(output, { recursive: true, force: true });
  }
}

function firstFailure(text: string, folder: string): TestEnd {
  for (const { name, status, assertionResults } of (JSON.parse(text) as Report).testResults) {
    const failed = assertionResults.find((row) => row.status === 'failed');
    const file = name.replace(`${folder}/`, '');
    // As vitest itself joins them where it looks for a name.
    if (failed !== undefined)
      return { end: 'failed', file, name: [...failed.ancestorTitles, failed.title].join(' > ') };
    if (status === 'failed') return { end: 'failed', file };
  }
  return { end: 'crashed' };
}
