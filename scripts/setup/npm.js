import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { SetupError } from './setup-error.js';

const KEPT_CHARACTERS = 64 * 1024;
/** Error codes of npm if the registry never answered. */
const OFFLINE =
  /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT|ENOTCACHED/;
const RETRIES = ['--fetch-retries=2', '--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=5000'];

/**
 * Runs npm in a folder. Its output is kept for the error message only.
 *
 * @param {string[]} args
 * @param {string} folder
 * @returns {Promise<void>}
 */
export async function runNpm(args, folder) {
  const [command, ...first] = npmCommand();
  const child = spawn(
    command,
    [...first, ...args, '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error', ...RETRIES],
    {
      cwd: folder,
      env: npmEnvironment(),
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text) => (output = (output + text).slice(-KEPT_CHARACTERS)));
  }
  try {
    const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
    if (code !== 0) throw failure(args, output);
  } catch (error) {
    if (error instanceof SetupError) throw error;
    throw new SetupError(
      'Cannot run npm: it does not start.',
      'Install npm (it comes with Node) and run the same command again.',
      {
        cause: error,
      },
    );
  }
}

/** @returns {[string, ...string[]]} */
function npmCommand() {
  const script = process.env['npm_execpath'];
  const own = script !== undefined && /[\\/]npm-cli\.c?js$/.test(script) && existsSync(script);
  return own ? [process.execPath, script] : ['npm'];
}

/** The environment without the variables of an outer `npm run` about its own package and log level. */
function npmEnvironment() {
  const dropped =
    /^(node_env|npm_(package|lifecycle|command|config_(loglevel|local_prefix|global|omit|include|dry_run|production)$))/i;
  const kept = Object.entries(process.env).filter(([name]) => !dropped.test(name));
  const preload = fileURLToPath(new URL('die-with-parent.cjs', import.meta.url));
  const options = `${process.env.NODE_OPTIONS ?? ''} --require ${JSON.stringify(preload)}`;
  return { ...Object.fromEntries(kept), NODE_OPTIONS: options, SKILLCELL_SETUP_PID: String(process.pid) };
}

/**
 * @param {string[]} args
 * @param {string} output
 */
function failure(args, output) {
  const first = output.trim().split('\n').slice(0, 12).join('\n');
  if (OFFLINE.test(output)) {
    return new SetupError(
      'Cannot install packages: the npm registry does not answer.',
      'Connect to the network, or point npm at a registry that can be reached (`npm config set registry …`), and run the same command again.',
      { cause: new Error(first) },
    );
  }
  return new SetupError(
    `Cannot install packages: \`npm ${args[0]}\` failed.\n${first}`,
    'Correct the problem above and run the same command again.',
  );
}
