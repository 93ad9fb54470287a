/**
 * Runs `npm start` and `npm test`, the commands of README.md, on a bare machine: `npm run test:bare`. With arguments it runs only `npm test` and
 * passes them to vitest. The machine is a fresh Debian with Node, npm and a copy of this checkout only.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { makeBareRoot, type BareRoot } from './bare-root.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Reporters of a complete `npm test`: `outlook-check` fails the run if the opening line was wrong. */
const CHECKED = [
  'default',
  ...['opening-line', 'closing-line', 'outlook-check'].map((name) => `./scripts/${name}-reporter.ts`),
].map((name) => `--reporter=${name}`);

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/mmdebstrap')) {
    process.stderr.write(
      'Cannot make a bare machine: it needs the rights of root and mmdebstrap (`apt-get install mmdebstrap`).\n',
    );
    return 2;
  }
  using bare = makeBareRoot(ROOT);
  if (args.length > 0) return await timed(bare, ['npm', 'test', '--', ...args]);
  const start = await timed(bare, ['npm', 'start']);
  const test = await timed(bare, ['npm', 'test', '--', ...CHECKED]);
  return start === 0 && test === 0 ? 0 : 1;
}

/** Prints a command before its run, and its duration afterwards. Both go to stderr, so that stdout ends with the last line of the tests. */
async function timed(bare: BareRoot, command: readonly string[]): Promise<number> {
  const named = command.slice(0, 2).join(' ');
  process.stderr.write(`bare machine: ${named}\n`);
  const start = performance.now();
  const code = await bare.run(command);
  process.stderr.write(`bare machine: ${named} took ${Math.round((performance.now() - start) / 1000)} s\n`);
  return code;
}
