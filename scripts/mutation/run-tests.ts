import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { contained } from './contain.ts';

/** Result of some tests in a tree. */
export type TestEnd =
  | { end: 'passed' }
  /** The first failed test; a file that could not be loaded has no name. */
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
  /** For the whole run, and for each test. */
  timeoutMs: number;
  testTimeoutMs: number;
  /** A part of the name of the selected tests. */
  name?: string;
  /** Names of tests that are left out. */
  without?: readonly string[];
  /** The checkout. */
  root: string;
  /** Ends the run, and refuses the next one. */
  signal: AbortSignal;
  /** The socket of an engine for the tests. */
  engine: string | undefined;
}

/** Without these, an engine is found at the default address only. */
const NO_OTHER_ENGINE = { DOCKER_HOST: '', DOCKER_CONTEXT: '', DOCKER_CONFIG: '/nowhere' };

/** Runs test files in a tree until the first failure. */
export async function runTests(folder: string, files: readonly string[], options: RunOptions): Promise<TestEnd> {
  options.signal.throwIfAborted();
  const report = join(folder, '.toolchain', 'report.json');
  const words = [
    process.execPath,
    'node_modules/vitest/vitest.mjs',
    'run',
    ...files,
    // Writes no files beside the packages.
    '--configLoader=native',
    '--bail=1',
    `--testTimeout=${options.testTimeoutMs}`,
    '--reporter=json',
    `--outputFile=${report}`,
  ];
  const pattern = patternOf(options);
  // In one word, because a name may begin with a dash.
  if (pattern !== '') words.push(`--testNamePattern=${pattern}`);
  // A skipped test here just notices nothing; with CI set it would fail.
  const env = { ...process.env, ...NO_OTHER_ENGINE, CI: '', NO_COLOR: '1' };
  const { root, engine } = options;
  const [program = '', ...args] = contained({ tree: folder, root, engine }, words);
  const child = spawn(program, args, { cwd: folder, env, stdio: 'ignore', detached: true });
  let late = false;
  const kill = (): void => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  };
  options.signal.addEventListener('abort', kill);
  const timer = setTimeout(() => {
    late = true;
    kill();
  }, options.timeoutMs);
  const code = await new Promise<number | null>((resolve) => {
    child.once('exit', resolve);
    child.once('error', () => resolve(null));
  });
  options.signal.removeEventListener('abort', kill);
  clearTimeout(timer);
  try {
    if (late) return { end: 'timeout' };
    if (code === 0) return { end: 'passed' };
    return firstFailure(readFileSync(report, 'utf8'), folder);
  } catch {
    // The run ended before it could write its report.
    return { end: 'crashed' };
  } finally {
    rmSync(report, { force: true });
  }
}

/** Empty for all tests. */
function patternOf({ name = '', without = [] }: RunOptions): string {
  const plain = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return without.length === 0 ? plain(name) : `^(?!(?:${without.map(plain).join('|')})$).*${plain(name)}`;
}

function firstFailure(text: string, folder: string): TestEnd {
  const files = (JSON.parse(text) as Report).testResults.map((row) => ({
    ...row,
    file: row.name.replace(`${folder}/`, ''),
  }));
  for (const { file, assertionResults } of files) {
    const failed = assertionResults.find((row) => row.status === 'failed');
    // Joined as vitest matches names.
    if (failed !== undefined)
      return { end: 'failed', file, name: [...failed.ancestorTitles, failed.title].join(' > ') };
  }
  // A file that did not get its turn is also marked as failed, so this counts only if no test failed.
  const unloaded = files.find(({ status }) => status === 'failed');
  return unloaded === undefined ? { end: 'crashed' } : { end: 'failed', file: unloaded.file };
}
