/**
 * Runs programs plainly and as jobs, and shows their differences:
 * `npm run -s fidelity -- [DIR…] [--level L]… [--language X] [--only TEXT] [--json]`. Without folders it takes the programs of
 * `test/fidelity/programs`, without levels all levels of this machine. The exit code is 1 when a program differs and no row of the table
 * explains it, and 2 when the comparison cannot run.
 */
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { cliRunners } from '../src/cli/job/runners.ts';
import { ISOLATION_LEVELS, type Isolation } from '../src/contracts/jobs/result.ts';
import { languageNames } from '../src/languages/languages.ts';
import { hostPlace, openImagePlace, type PlainPlace, unisolatedPlace } from './fidelity/plain-place.ts';
import { readPrograms } from './fidelity/read-programs.ts';
import { closingLines, describeCompared } from './fidelity/describe-compared.ts';
import { type ComparedLevel, runFidelity } from './fidelity/run-fidelity.ts';
import { missingForPlainRuns } from './fidelity/run-plainly.ts';

type LevelHere = Omit<ComparedLevel, 'place'>;

const USAGE = 'npm run -s fidelity -- [DIR…] [--level L]… [--language X] [--only TEXT] [--json]';
const OWN = fileURLToPath(new URL('../test/fidelity/programs', import.meta.url));

try {
  process.exitCode = await main();
} catch (cause) {
  process.stderr.write(`${(cause as Error).message}\n`);
  process.exitCode = 2;
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      level: { type: 'string', multiple: true, default: [] },
      language: { type: 'string' },
      only: { type: 'string', default: '' },
      json: { type: 'boolean', default: false },
    },
  });
  const { language, only, json } = values;
  const unknown = values.level.find((level) => !ISOLATION_LEVELS.includes(level as Isolation));
  if (unknown !== undefined)
    throw new Error(`Cannot compare: a level is one of ${ISOLATION_LEVELS.join(', ')}, got ${unknown}. ${USAGE}`);
  if (language !== undefined && !languageNames().includes(language))
    throw new Error(`Cannot compare: a language is one of ${languageNames().join(', ')}, got ${language}. ${USAGE}`);
  const missing = missingForPlainRuns();
  if (missing !== undefined) throw new Error(`Cannot run programs plainly: this machine lacks ${missing}.`);

  const callerFolder = process.env['INIT_CWD'] ?? '.';
  const folders = positionals.length === 0 ? [OWN] : positionals.map((folder) => resolve(callerFolder, folder));
  const programs = folders
    .flatMap((folder) => readPrograms(folder))
    .filter((program) => language === undefined || program.language === language)
    .filter(({ id }) => id.includes(only));
  if (programs.length === 0) throw new Error(`Cannot compare: no program was found. ${USAGE}`);

  await using places = new AsyncDisposableStack();
  const compared = await runFidelity(programs, {
    levels: await withPlaces(await availableLevels(values.level as Isolation[]), places),
    atOnce: Math.max(2, availableParallelism()),
    onCompared: (row) => {
      if (!json) process.stdout.write(describeCompared(row));
    },
  });
  process.stdout.write(json ? `${JSON.stringify(compared, null, 2)}\n` : closingLines(compared));
  return compared.some(({ verdict }) => verdict === 'differs') ? 1 : 0;
}

/** The requested levels, or all levels of this machine. A requested level that this machine lacks is an error. */
async function availableLevels(asked: readonly Isolation[]): Promise<LevelHere[]> {
  const levels: LevelHere[] = [];
  for (const [index, runner] of openRunners().entries()) {
    await using _ = runner;
    for (const { isolation, available, reasons } of await runner.probe()) {
      if (asked.length > 0 && !asked.includes(isolation)) continue;
      if (available) levels.push({ openRunner: () => openRunners()[index] ?? runner, isolation });
      else if (asked.length > 0) throw new Error(`Cannot compare at level ${isolation}: ${reasons.join('; ')}`);
    }
  }
  const lacking = asked.find((level) => !levels.some(({ isolation }) => isolation === level));
  if (lacking !== undefined) throw new Error(`Cannot compare at level ${lacking}: no runner here has it.`);
  return levels.toSorted((a, b) => ISOLATION_LEVELS.indexOf(a.isolation) - ISOLATION_LEVELS.indexOf(b.isolation));
}

/** Adds the places of plain runs. */
async function withPlaces(levels: readonly LevelHere[], open: AsyncDisposableStack): Promise<ComparedLevel[]> {
  let image: Promise<PlainPlace> | undefined;
  const imagePlace = (): Promise<PlainPlace> => (image ??= openImagePlace().then((place) => open.use(place)));
  const places = { none: unisolatedPlace, namespace: hostPlace, container: imagePlace, kernel: imagePlace };
  return await Promise.all(levels.map(async (level) => ({ ...level, place: await places[level.isolation]() })));
}

function openRunners(): ReturnType<typeof cliRunners> {
  return cliRunners({ env: process.env });
}
