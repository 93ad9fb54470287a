import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { runCitations } from './run-citations.ts';
import { runDescriptor } from './run-descriptor.ts';
import { runFrontMatter } from './run-front-matter.ts';
import {
  runActiveSkills,
  runCatalog,
  runDiscovery,
  runImports,
  runPolicy,
  runReferences,
  runTriggers,
} from './run-library.ts';
import { runStrictValidate } from './run-strict-validate.ts';
import { runToolsSources } from './run-tools-sources.ts';
import { runUrls } from './run-urls.ts';

/** One test case: only the keys of `expect` are compared. */
export interface VectorCase {
  id: string;
  why: string;
  input: unknown;
  expect: Record<string, unknown>;
}

/** One file of cases. */
export interface VectorFile {
  /** Without `.json`. */
  name: string;
  cases: VectorCase[];
}

const RUNNERS: ReadonlyMap<string, (input: unknown) => Record<string, unknown>> = new Map([
  ['front-matter', runFrontMatter],
  ['strict-validate', runStrictValidate],
  ['discovery', runDiscovery],
  ['references', runReferences],
  ['policy', runPolicy],
  ['catalog', runCatalog],
  ['imports', runImports],
  ['active-skills', runActiveSkills],
  ['citations', runCitations],
  ['urls', runUrls],
  ['tools-sources', runToolsSources],
  ['descriptor', runDescriptor],
  ['triggers', runTriggers],
]);

/**
 * Reads every JSON file of a folder of vectors.
 *
 * @throws Error when the folder can't be read, holds no JSON file, or a file has an invalid form
 */
export function readVectors(folder: string): VectorFile[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  if (names.length === 0) throw new Error(`${folder} holds no JSON file.`);
  return names.sort().map((name) => {
    const { cases } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as { cases?: unknown };
    if (!Array.isArray(cases) || cases.length === 0) throw new Error(`${name} holds no cases.`);
    for (const one of cases) assertCase(name, one);
    return { name: basename(name, '.json'), cases: cases as VectorCase[] };
  });
}

/** One key with different values. */
export interface Difference {
  key: string;
  expected: unknown;
  actual: unknown;
}

/**
 * Runs one case.
 *
 * @returns the differences; empty when the case passes
 * @throws Error when its file is unknown
 */
export function runVector(file: string, vector: VectorCase): Difference[] {
  const run = RUNNERS.get(file);
  if (run === undefined) throw new Error(`The cases of ${file}.json are unknown.`);
  const actual = run(vector.input);
  return Object.entries(vector.expect)
    .filter(([key, expected]) => !(Object.hasOwn(actual, key) && isDeepStrictEqual(plain(actual[key]), expected)))
    .map(([key, expected]) => ({ key, expected, actual: plain(actual[key]) }));
}

/** Data as it would be read from JSON: that is what expectations are made of. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

function assertCase(file: string, value: unknown): void {
  const { id, input, expect } = (value ?? {}) as Partial<VectorCase>;
  const usable = typeof id === 'string' && typeof input === 'object' && typeof expect === 'object' && expect !== null;
  if (!usable || Object.keys(expect).length === 0) {
    throw new Error(`${file} holds a case without id, input or expectation: ${JSON.stringify(value).slice(0, 100)}`);
  }
}
