/**
 * Changes the sources in one place at a time, as Stryker does, and lists the changes that no test notices. Exit code 1 if a survivor is not in
 * `test/mutation/survivors.json` with a reason; for a sample, if more than `--may-survive` percent of it survive so.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { canContain } from './mutation/contain.ts';
import { startEngineOfMutants } from './mutation/engine-of-mutants.ts';
import { readKnownSurvivors, reasonOf, survivorOf } from './mutation/known-survivors.ts';
import { listMutants, listSources, MUTATED, sampleOf, type Mutant } from './mutation/list-mutants.ts';
import { mutatedTree } from './mutation/mutated-tree.ts';
import { SLOW, testFinder, type RelatedTests } from './mutation/related-tests.ts';
import { runTests, type RunOptions } from './mutation/run-tests.ts';
import { seedOfWeek } from './mutation/seed-of-week.ts';

/** Red tests of a file that are left out one by one. A file with more is left out as a whole: each costs a run. */
const MOST_RED = 2;
/** Percentage of a sample that may survive: a seed that was never tried may find survivors that no change has made. */
const MAY_SURVIVE = '10';
const USAGE = `npm run mutate -- [FILE, FOLDER or PATTERN ...] [--sample N [--seed TEXT] [--may-survive PERCENT]] [--list] [--json FILE]

Changes the sources in one place at a time, and lists the changes that no test notices. Needs root.

  --sample N             tries N changes only
  --seed TEXT            chooses the sample; default 1. The seed "week" is the week of today, such as ${seedOfWeek(new Date())}
  --may-survive PERCENT  the exit code is 1 if more of a sample survive; default ${MAY_SURVIVE}
  --list                 lists the changes, and tries none
  --json FILE            writes the survivors as entries of test/mutation/survivors.json, without a reason
`;
const ROOT = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
const SURVIVORS = join(ROOT, 'test/mutation/survivors.json');
/** Limits for a run of tests, and for one test in it; a longer run counts as endless. */
const LONGEST_FAST = { timeoutMs: 40_000, testTimeoutMs: 15_000 };
const LONGEST_SLOW = { timeoutMs: 300_000, testTimeoutMs: 60_000 };
/** For tests that start programs, a run that takes this many times as long as without the change counts as endless, too. */
const TIMES_AS_LONG = 4;
const SHORTEST_MS = 20_000;
/** Code in the bundle of the runtime. With a change there, an engine has no image with this bundle. */
const IN_THE_BUNDLE = /^(runtime|src\/(contracts|protocol|skills))\//;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
    'may-survive': { type: 'string', default: MAY_SURVIVE },
    list: { type: 'boolean' },
    json: { type: 'string' },
    help: { type: 'boolean' },
  },
});
/** Ends the run at a signal; all that it started ends with it. */
const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interruption.abort());
process.exitCode = await main();

async function main(): Promise<number> {
  if (values.help === true) {
    process.stdout.write(USAGE);
    return 0;
  }
  const files = listSources(ROOT, positionals.length === 0 ? MUTATED : positionals);
  const all = await listMutants(ROOT, files);
  const size = Number(values.sample ?? all.length);
  const percent = Number(values['may-survive']);
  if (!(percent >= 0 && percent <= 100)) {
    process.stderr.write(`Cannot mutate: --may-survive takes a percentage, got ${values['may-survive']}.\n`);
    return 2;
  }
  if (!Number.isInteger(size) || size < 1 || all.length === 0) {
    const given = [...positionals, values.sample ?? ''].join(' ').trim();
    process.stderr.write(`Cannot mutate: no source can be changed, got ${given}.\n`);
    return 2;
  }
  const seed = values.seed === 'week' ? seedOfWeek(new Date()) : values.seed;
  const chosen = values.sample === undefined ? all : sampleOf(all, seed, size);
  if (values.list === true) {
    for (const mutant of chosen) process.stdout.write(`${nameOf(mutant)}\n`);
    return 0;
  }
  if (!canContain()) {
    process.stderr.write(
      'Cannot mutate: code that starts sandboxes and ends processes needs its own namespaces, which this user cannot create. Run it as root.\n',
    );
    return 2;
  }
  if (values.sample !== undefined) process.stdout.write(`--sample ${chosen.length} --seed ${seed}\n`);
  const survived = await tryAll(chosen, testFinder(ROOT)).catch((error: unknown) => {
    if (interruption.signal.aborted) return undefined;
    throw error;
  });
  if (survived === undefined) return 130;
  const allowed = values.sample === undefined ? 0 : Math.floor((chosen.length * percent) / 100);
  if (survived > 0) process.stdout.write(`${allowed} may survive\n`);
  return survived <= allowed ? 0 : 1;
}

/** @returns the number of survivors without a reason */
async function tryAll(mutants: readonly Mutant[], related: (file: string) => RelatedTests): Promise<number> {
  using tree = mutatedTree(ROOT);
  using untouched = mutatedTree(ROOT);
  const usesEngine = mutants.some(({ file }) => !IN_THE_BUNDLE.test(file));
  await using engine = usesEngine ? await startEngineOfMutants() : undefined;
  const known = readKnownSurvivors(SURVIVORS);
  const seen = new Map<string, Unchanged>();
  const red = new Map<string, Set<string>>();
  const keyOf = ({ files, name = '', without = [], socket = '' }: TestChoice): string =>
    [...files, name, ...without, socket].join(' ');
  const unchanged: UnchangedRuns = {
    red: (files) => files.flatMap((file) => [...(red.get(file) ?? [])]),
    leaveOut: (file, name) => void red.set(file, new Set([...(red.get(file) ?? []), name])),
    known: (choice) => seen.get(keyOf(choice)),
    async run(choice) {
      const run = seen.get(keyOf(choice)) ?? (await runUnchanged(untouched.folder, choice));
      seen.set(keyOf(choice), run);
      return run;
    },
  };
  const survivors: Mutant[] = [];
  let killed = 0;
  let listed = 0;
  for (const [index, mutant] of mutants.entries()) {
    const own = IN_THE_BUNDLE.test(mutant.file) ? undefined : engine;
    await own?.renew();
    tree.apply(mutant);
    const by = await noticedBy(tree.folder, related(mutant.file), own?.socket, unchanged);
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
  return survivors.length;
}

/** Test files that run together, with the engine that they reach. */
interface TestChoice {
  files: readonly string[];
  /** A part of the name of the selected tests. */
  name?: string | undefined;
  /** Names of tests that are left out. */
  without?: readonly string[];
  socket: string | undefined;
}

/** Result and duration of some tests without any change. */
interface Unchanged {
  isRed: boolean;
  tookMs: number;
}

/** Runs of tests without any change, each tried once. */
interface UnchangedRuns {
  /** Names of tests that fail without any change. */
  red(files: readonly string[]): string[];
  leaveOut(file: string, name: string): void;
  known(choice: TestChoice): Unchanged | undefined;
  run(choice: TestChoice): Promise<Unchanged>;
}

async function runUnchanged(folder: string, choice: TestChoice): Promise<Unchanged> {
  const started = performance.now();
  const { end } = await runTests(folder, choice.files, longest(choice));
  // Tests that fail without any change cannot notice one.
  const asked = [...choice.files, choice.name ?? ''].join(' ').trim();
  if (end !== 'passed') process.stderr.write(`${asked}: ${end} without any change, and is not counted\n`);
  return { isRed: end !== 'passed', tookMs: performance.now() - started };
}

/** The test that notices a change; `undefined` if none does. */
async function noticedBy(
  folder: string,
  { fast, slow }: RelatedTests,
  socket: string | undefined,
  unchanged: UnchangedRuns,
): Promise<string | undefined> {
  for (const stage of [...fast, ...slow]) {
    let left = stage;
    while (left.length > 0) {
      const [, name] = left[0]?.split('#') ?? [];
      const files = left.map((file) => file.replace(/#.*/, ''));
      const choice = { files, name, without: unchanged.red(files), socket };
      const options = patient(choice, unchanged.known(choice));
      const ended = await runTests(folder, files, options);
      if (ended.end === 'passed') break;
      if (ended.end !== 'failed') {
        // A busy machine can end a run as well.
        const again = await runTests(folder, files, options);
        if (again.end !== 'passed' && !(await unchanged.run(choice)).isRed) return `${ended.end} in ${files.join(' ')}`;
        break;
      }
      const failed = { files: [ended.file], name: ended.name, socket };
      // A test that starts sandboxes may fail for lack of processor time; then it passes the second time.
      const fails = !SLOW.test(ended.file) || (await runTests(folder, failed.files, longest(failed))).end !== 'passed';
      // If all of them pass without the change, this test passes as well.
      const passes = async (): Promise<boolean> =>
        unchanged.known(choice)?.isRed === false || !(await unchanged.run(failed)).isRed;
      if (fails && (await passes())) return `${ended.file}: ${ended.name ?? 'cannot be loaded'}`;
      const red = unchanged.red([ended.file]);
      if (fails && ended.name !== undefined && !red.includes(ended.name) && red.length < MOST_RED) {
        // The run ended at this test; the others of its file are still to be tried.
        unchanged.leaveOut(ended.file, ended.name);
        continue;
      }
      left = left.filter((file) => file !== ended.file && !file.startsWith(`${ended.file}#`));
    }
  }
  return undefined;
}

/** Options for tests whose duration without a change may be known. */
function patient(choice: TestChoice, known: Unchanged | undefined): RunOptions {
  const options = longest(choice);
  if (known === undefined || !SLOW.test(choice.files[0] ?? '')) return options;
  return { ...options, timeoutMs: Math.min(options.timeoutMs, Math.max(SHORTEST_MS, TIMES_AS_LONG * known.tookMs)) };
}

function longest({ files, name, without = [], socket }: TestChoice): RunOptions {
  const limits = SLOW.test(files[0] ?? '') ? LONGEST_SLOW : LONGEST_FAST;
  return {
    ...limits,
    root: ROOT,
    signal: interruption.signal,
    engine: socket,
    without,
    ...(name === undefined ? {} : { name }),
  };
}

function nameOf({ file, line, mutator, original, replacement }: Mutant): string {
  const short = (text: string): string => JSON.stringify(text.replaceAll(/\s+/g, ' ').slice(0, 70));
  return `${file}:${line} ${mutator} ${short(original)} → ${short(replacement)}`;
}
