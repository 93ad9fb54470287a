import { resolve } from 'node:path';
import { readVectors, runVector, type VectorFile } from '../test/conformance/vectors.ts';

const SHOWN = 2_000;

/** Runs every case of a folder of vectors, prints each failure, and returns the exit code. */
export function runFolder(folder: string, print: (line: string) => void): 0 | 1 | 2 {
  let files: VectorFile[];
  try {
    files = readVectors(folder);
  } catch (cause) {
    // A wrong folder is a mistake of the caller, with its own reason and exit code.
    print(`Cannot read vectors: ${(cause as Error).message}`);
    return 2;
  }
  let passed = 0;
  let failed = 0;
  for (const { name, cases } of files) {
    for (const vector of cases) {
      const failure = failureOf(() => runVector(name, vector));
      if (failure === undefined) passed += 1;
      else {
        failed += 1;
        print(`✗ ${vector.id}: ${vector.why}\n${failure}`);
      }
    }
  }
  print(`${passed} passed, ${failed} failed, 0 skipped`);
  return failed === 0 ? 0 : 1;
}

function failureOf(run: () => ReturnType<typeof runVector>): string | undefined {
  try {
    const differences = run();
    if (differences.length === 0) return undefined;
    return differences
      .map(({ key, expected, actual }) => `  ${key}\n    expected ${show(expected)}\n    actual   ${show(actual)}`)
      .join('\n');
  } catch (cause) {
    // A case that cannot be run has failed.
    return `  ${(cause as Error).stack}`;
  }
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}

if (import.meta.main) {
  const [folder, ...more] = process.argv.slice(2);
  if (folder === undefined || more.length > 0) {
    console.error('Usage: npm run -s vectors -- FOLDER');
    process.exitCode = 2;
  } else {
    process.exitCode = runFolder(resolve(process.env['INIT_CWD'] ?? '.', folder), (line) => console.log(line));
  }
}
