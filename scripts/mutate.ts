/**
 * Changes the sources in one place at a time, as Stryker does, and says which changes no test notices. A survivor that
 * `test/mutation/survivors.json` does not list with its reason is exit code 1.
 *
 *     node scripts/mutate.ts [FILE-OR-PATTERN ...] [--sample N --seed TEXT [--slow]] [--list] [--json FILE]
 *
 * A sample is taken from the files that have a fast test of their own name and tries fast tests only; with `--slow` it is taken
 * from all files and tries all tests, as a run without a sample does.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { readKnownSurvivors, reasonOf, survivorOf } from './mutation/known-survivors.ts';
import { listMutants, listSources, MUTATED, sampleOf, type Mutant } from './mutation/list-mutants.ts';
import { mutatedTree } from './mutation/mutated-tree.ts';
import { SLOW, testFinder, type RelatedTests } from './mutation/related-tests.ts';
import { runTests, type TestEnd } from './mutation/run-tests.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
const SURVIVORS = join(ROOT, 'test/mutation/survivors.json');
/** What has not ended by then goes on for ever: a run of tests, and one test in it. */
const LONGEST_FAST = { timeoutMs: 40_000, testTimeoutMs: 15_000 };
const LONGEST_SLOW = { timeoutMs: 300_000, testTimeoutMs: 60_000 };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: 'string' },
    seed: { type: 'string' },
    slow: { type: 'boolean' },
    list: { type: 'boolean' },
    json: { type: 'string' },
  },
});
/** A sample is for a run that has a few minutes. */
const ONLY_FAST = values.sample !== undefined && values.slow !== true;
process.exitCode = await main();

async function main(): Promise<number> {
  const related = testFinder(ROOT);
  const sources = listSources(ROOT, positionals.length === 0 ? MUTATED : positionals);
  const files = ONLY_FAST ? sources.filter((file) => related(file).quick) : sources;
  const all = await listMutants(ROOT, files);
  const size = Number(values.sample ?? all.length);
  if (!Number.isInteger(size) || size < 1 || all.length === 0) {
    const given = [...positionals, values.sample ?? ''].join(' ').trim();
    process.stderr.write(`Cannot mutate: there is nothing to change, got ${given}.\n`);
    return 2;
  }
  const chosen = values.sample === undefined ? all : sampleOf(all, values.seed ?? '1', size);
  if (values.list === true) {
    for (const mutant of chosen) process.stdout.write(`${nameOf(mutant)}\n`);
    return 0;
  }
  return await tryAll(chosen, related);
}

async function tryAll(mutants: readonly Mutant[], related: (file: string) => RelatedTests): Promise<number> {
  using tree = mutatedTree(ROOT);
  using untouched = mutatedTree(ROOT);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      for (const one of [tree, untouched]) one[Symbol.dispose]();
      process.exit(130);
    });
  }
  const known = readKnownSurvivors(SURVIVORS);
  const red = new Map<string, boolean>();
  /** A test that fails without any change notices nothing. */
  const isRedAnyway = async ({ file, name }: TestEnd & { end: 'failed' }): Promise<boolean> => {
    const key = `${file} ${name}`;
    if (!red.has(key)) {
      const { end } = await runTests(untouched.folder, [file], {
        ...longest(file),
        ...(name === undefined ? {} : { name }),
      });
      red.set(key, end !== 'passed');
      if (end !== 'passed') process.stderr.write(`${key}: fails without any change, and is not counted\n`);
    }
    return red.get(key) === true;
  };
  const survivors: Mutant[] = [];
  let killed = 0;
  let listed = 0;
  for (const [index, mutant] of mutants.entries()) {
    tree.apply(mutant);
    const by = await noticedBy(tree.folder, related(mutant.file), isRedAnyway);
    tree.restore();
    const reason = by === undefined ? reasonOf(known, mutant) : undefined;
    if (by !== undefined) killed += 1;
    else if (reason === undefined) survivors.push(mutant);
    else listed += 1;
    const state = by === undefined ? (reason === undefined ? 'SURVIVED' : `listed: ${reason}`) : `killed by ${by}`;
    process.stdout.write(`${index + 1}/${mutants.length} ${nameOf(mutant)}\n    ${state}\n`);
  }
  const share = ((100 * killed) / Math.max(1, mutants.length - listed)).toFixed(1);
  const rows = survivors.map((mutant) => ({ ...survivorOf(mutant), line: mutant.line, reason: '' }));
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(rows, null, 2)}\n`);
  process.stdout.write(`${killed} killed (${share} %), ${survivors.length} survived, ${listed} listed with a reason\n`);
  return survivors.length === 0 ? 0 : 1;
}

/** The test that notices a change; `undefined` when none does. */
async function noticedBy(
  folder: string,
  { fast, slow }: RelatedTests,
  isRedAnyway: (failure: TestEnd & { end: 'failed' }) => Promise<boolean>,
): Promise<string | undefined> {
  // What only a slow test notices is listed with its name.
  for (const stage of ONLY_FAST ? fast : [...fast, ...slow]) {
    let files = stage;
    while (files.length > 0) {
      const [, name] = files[0]?.split('#') ?? [];
      const paths = files.map((file) => file.replace(/#.*/, ''));
      const once = { ...longest(paths[0] ?? ''), ...(name === undefined ? {} : { name }) };
      const ended = await runTests(folder, paths, once);
      if (ended.end === 'passed') break;
      if (ended.end !== 'failed') {
        // A machine that is busy ends a run as well.
        if ((await runTests(folder, paths, once)).end !== 'passed') return `${ended.end} in ${paths.join(' ')}`;
        break;
      }
      const again = { ...longest(ended.file), ...(ended.name === undefined ? {} : { name: ended.name }) };
      // A test that starts sandboxes may fail for want of a processor; then it passes the second time.
      const fails = !SLOW.test(ended.file) || (await runTests(folder, [ended.file], again)).end !== 'passed';
      if (fails && !(await isRedAnyway(ended))) return `${ended.file}: ${ended.name ?? 'cannot be loaded'}`;
      files = files.filter((file) => file !== ended.file && !file.startsWith(`${ended.file}#`));
    }
  }
  return undefined;
}

function longest(test: string): typeof LONGEST_FAST {
  return SLOW.test(test) ? LONGEST_SLOW : LONGEST_FAST;
}

function nameOf({ file, line, mutator, original, replacement }: Mutant): string {
  const short = (text: string): string => JSON.stringify(text.replaceAll(/\s+/g, ' ').slice(0, 70));
  return `${file}:${line} ${mutator} ${short(original)} → ${short(replacement)}`;
}
