// Runs one of the project's own commands (`npm test`, `npm start` …), and the missing set-up before it. Plain JavaScript for any Node from 18 on.
import { delimiter, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startNode } from '../bin/start-node.js';
import { setUp } from './setup/set-up.js';

const root = fileURLToPath(new URL('..', import.meta.url));

/** @type {Record<string, string[] | undefined>} */
const COMMANDS = {
  start: ['examples/quickstart/quickstart.ts'],
  test: ['scripts/test.ts', 'quick'],
  'test:all': ['scripts/test.ts', 'all'],
  // The tests of `test:all` that `test` leaves out: CI runs both in turn.
  'test:rest': ['scripts/test.ts', 'rest'],
  'test:bare': ['scripts/test-bare.ts'],
  check: ['scripts/check.ts'],
  build: ['scripts/build.ts'],
  bench: ['bench/main.ts'],
  attacks: [
    ...['node_modules/vitest/vitest.mjs', 'run', 'test/attacks', '--project=!fleet'],
    '--reporter=./scripts/attack-table-reporter.ts',
  ],
  ablation: ['scripts/ablate.ts'],
  mutate: ['scripts/mutate.ts'],
  chaos: ['scripts/chaos.ts'],
  cluster: ['scripts/cluster.ts'],
  fuzz: ['scripts/fuzz.ts'],
  vectors: ['scripts/vectors.ts'],
  corpus: ['scripts/corpus.ts'],
  fidelity: ['scripts/fidelity.ts'],
  format: ['node_modules/oxfmt/bin/oxfmt', '.'],
};

const [name = '', ...args] = process.argv.slice(2);
process.exitCode = await run(COMMANDS[name]);

/** @param {string[] | undefined} command */
async function run(command) {
  if (command === undefined) {
    process.stderr.write(
      `Cannot run a command: it must be one of ${Object.keys(COMMANDS).join(', ')}, got "${name}".\n`,
    );
    return 2;
  }
  let node;
  try {
    node = await setUp(root, name !== 'start');
  } catch (error) {
    process.stderr.write(
      `${error.message}\n${error.hint ?? 'Remove the folder .toolchain and run the same command again.'}\n`,
    );
    return 3;
  }
  // Paths on the command line are relative to the caller's folder; npm and the next line both leave that folder.
  const callerFolder = process.env.INIT_CWD ?? process.cwd();
  process.chdir(root);
  // Tools that are started by name use the same Node as the project.
  const path = [dirname(node), process.env.PATH].filter(Boolean).join(delimiter);
  return startNode(node, [...command, ...args], { ...process.env, PATH: path, INIT_CWD: callerFolder });
}
