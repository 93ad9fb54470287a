/**
 * Changes the sources in one place at a time, as Stryker does, and lists the changes that no test notices. Exit code 1 if a survivor is not in
 * `test/mutation/survivors.json` with a reason.
 *
 *     node scripts/mutate.ts [FILE-OR-PATTERN ...] [--sample N --seed TEXT [--slow]] [--list] [--json FILE]
 *
 * A sample is taken from the files that have a fast test of the same name, and tries only fast tests. With `--slow` it is taken from all files and
 * tries all tests, like a run without a sample.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { canContain } from './mutation/contain.ts';
import { readKnownSurvivors, reasonOf, survivorOf } from './mutation/known-survivors.ts';
import { listMutants, listSources, MUTATED, sampleOf, type Mutant } from './mutation/list-mutants.ts';
import { mutatedTree } from './mutation/mutated-tree.ts';
import { SLOW, testFinder, type RelatedTests } from './mutation/related-tests.ts';
import { runTests, type RunOptions } from './mutation/run-tests.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
const SURVIVORS = join(ROOT, 'test/mutation/survivors.json');
/** Limits for a run of tests, and for one test in it; a longer run counts as endless. */
const LONGEST_FAST = { timeoutMs: 40_000, testTimeoutMs: 15_000 };
const LONGEST_SLOW = { timeoutMs: 300_000, testTimeoutMs: 60_000 };
/** For tests that start programs, a run that takes this many times as long as without the change counts as endless, too. */
const TIMES_AS_LONG = 4;
const SHORTEST_MS = 20_000;

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
/** A sample is for a run of a few minutes. */
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
    process.stderr.write(`Cannot mutate: no source can be changed, got ${given}.\n`);
    return 2;
  }
  const chosen = values.sample === undefined ? all : sampleOf(all, values.seed ?? '1', size);
  if (values.list === true) {
    for (const mutant of chosen) process.stdout.write(`${nameOf(mutant)}\n`);
    return 0;
  }
  if (!ONLY_FAST && !canContain()) {
    process.stderr.write(
      'Cannot mutate: code that starts sandboxes and ends processes needs its own namespaces, which this user cannot create. Run it as root, or take a sample without --slow.\n',
    );
    return 2;
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
  const seen = new Map<string, Promise<Unchanged>>();
  const unchanged: RunUnchanged = (files, name) => {
    const key = `${files.join(' ')} ${name ?? ''}`;
    const run = seen.get(key) ?? runUnchanged(untouched.folder, files, name);
    seen.set(key, run);
    return run;
  };
  const survivors: Mutant[] = [];
  let killed = 0;
  let listed = 0;
  for (const [index, mutant] of mutants.entries()) {
    tree.apply(mutant);
    const by = await noticedBy(tree.folder, related(mutant.file), unchanged);
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

/** Result and duration of some tests without any change. */
interface Unchanged {
  isRed: boolean;
  tookMs: number;
}

type RunUnchanged = (files: readonly string[], name?: string) => Promise<Unchanged>;

async function runUnchanged(folder: string, files: readonly string[], name?: string): Promise<Unchanged> {
  const started = performance.now();
  const { end } = await runTests(folder, files, { ...longest(files), ...named(name) });
  // Tests that fail without any change cannot notice one.
  const asked = [...files, name ?? ''].join(' ').trim();
  if (end !== 'passed') process.stderr.write(`${asked}: ${end} without any change, and is not counted\n`);
  return { isRed: end !== 'passed', tookMs: performance.now() - started };
}

/** The test that notices a change; `undefined` if none does. */
async function noticedBy(
  folder: string,
  { fast, slow }: RelatedTests,
  unchanged: RunUnchanged,
): Promise<string | undefined> {
  // Survivors of fast tests are also tried with slow tests, which give the listed name.
  for (const stage of ONLY_FAST ? fast : [...fast, ...slow]) {
    let files = stage;
    while (files.length > 0) {
      const [, name] = files[0]?.split('#') ?? [];
      const paths = files.map((file) => file.replace(/#.*/, ''));
      const once = await optionsFor(paths, name, unchanged);
      const ended = await runTests(folder, paths, once);
      if (ended.end === 'passed') break;
      if (ended.end !== 'failed') {
        // A busy machine can end a run as well.
        const again = await runTests(folder, paths, once);
        if (again.end !== 'passed' && !(await unchanged(paths, name)).isRed)
          return `${ended.end} in ${paths.join(' ')}`;
        break;
      }
      const again = { ...longest([ended.file]), ...named(ended.name) };
      // A test that starts sandboxes may fail for lack of processor time; then it passes the second time.
      const fails = !SLOW.test(ended.file) || (await runTests(folder, [ended.file], again)).end !== 'passed';
      if (fails && !(await unchanged([ended.file], ended.name)).isRed)
        return `${ended.file}: ${ended.name ?? 'cannot be loaded'}`;
      files = files.filter((file) => file !== ended.file && !file.startsWith(`${ended.file}#`));
    }
  }
  return undefined;
}

async function optionsFor(
  files: readonly string[],
  name: string | undefined,
  unchanged: RunUnchanged,
): Promise<RunOptions> {
  const { timeoutMs, ...options } = longest(files);
  if (!SLOW.test(files[0] ?? '')) return { ...options, timeoutMs, ...named(name) };
  const patienceMs = Math.max(SHORTEST_MS, TIMES_AS_LONG * (await unchanged(files, name)).tookMs);
  return { ...options, timeoutMs: Math.min(timeoutMs, patienceMs), ...named(name) };
}

function longest([first = '']: readonly string[]): RunOptions {
  return { ...(SLOW.test(first) ? LONGEST_SLOW : LONGEST_FAST), root: ONLY_FAST ? undefined : ROOT };
}

function named(name: string | undefined): Pick<RunOptions, 'name'> {
  return name === undefined ? {} : { name };
}

function nameOf({ file, line, mutator, original, replacement }: Mutant): string {
  const short = (text: string): string => JSON.stringify(text.replaceAll(/\s+/g, ' ').slice(0, 70));
  return `${file}:${line} ${mutator} ${short(original)} → ${short(replacement)}`;
}
