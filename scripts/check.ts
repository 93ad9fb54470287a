/** Runs all checks except tests, one line per step; see CONTRIBUTING.md. `npm run check -- NAME…` runs the named steps. */
import { execa } from 'execa';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const bin = (name: string): string => `node_modules/${name}`;

/** Steps by name. Each is a list of commands for the project's own Node, run one after the other. */
const STEPS: Record<string, string[][]> = {
  types: [
    [bin('typescript/bin/tsc'), '-p', '.'],
    [bin('typescript/bin/tsc'), '-p', 'tsconfig.setup.json'],
    [bin('typescript/bin/tsc'), '-p', 'web'],
  ],
  lint: [[bin('oxlint/bin/oxlint'), '--type-aware', '--deny-warnings', '.']],
  format: [[bin('oxfmt/bin/oxfmt'), '--check', '.']],
  imports: [['scripts/check-imports.ts']],
  files: [['scripts/check-files.ts']],
  english: [['scripts/check-english.ts']],
  generated: [
    ['scripts/generate-api.ts', '--check'],
    ['scripts/generate-errors.ts', '--check'],
    ['scripts/generate-diagnostics.ts', '--check'],
    ['scripts/generate-scan-rules.ts', '--check'],
    ['scripts/generate-schemas.ts', '--check'],
    ['scripts/generate-openapi.ts', '--check'],
    ['scripts/generate-differences.ts', '--check'],
  ],
  expressions: [['scripts/check-expressions.ts']],
  unused: [[bin('knip/bin/knip.js')]],
  package: [['scripts/build.ts'], [bin('publint/src/cli.js'), '--strict', '--pack', 'npm']],
};

/** publint asks npm for the contents of the package; that must not start another build. */
const ENVIRONMENT = { npm_config_ignore_scripts: 'true' };

const names = process.argv.slice(2).length > 0 ? process.argv.slice(2) : Object.keys(STEPS);
const waiting = names.map((name) => ({ name, commands: STEPS[name] }));
const unknown = waiting.find(({ commands }) => commands === undefined);
if (unknown === undefined) {
  await Promise.all(Array.from({ length: availableParallelism() }, work));
} else {
  process.stderr.write(`Cannot check: a step is one of ${Object.keys(STEPS).join(', ')}, got ${unknown.name}.\n`);
  process.exitCode = 2;
}

async function work(): Promise<void> {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
    await runStep(next.name, next.commands ?? []);
}

async function runStep(name: string, commands: string[][]): Promise<void> {
  const start = performance.now();
  let output = '';
  let ok = true;
  for (const command of commands) {
    const { all, exitCode } = await execa(process.execPath, command, {
      cwd: root,
      env: ENVIRONMENT,
      all: true,
      reject: false,
      stdin: 'ignore',
    });
    output += `${all}\n`;
    ok &&= exitCode === 0;
    if (!ok) break;
  }
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  process.stdout.write(`${ok ? 'ok  ' : 'FAIL'} ${name.padEnd(10)} ${seconds.padStart(5)} s\n`);
  if (ok) return;
  process.stderr.write(`${output.trimEnd()}\n`);
  process.exitCode = 1;
}
