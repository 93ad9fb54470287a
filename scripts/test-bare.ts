/**
 * Runs the tests as on a machine with nothing but Node and npm: `npm run test:bare [-- vitest's arguments]`. What
 * sandboxes are made of is hidden from this run only, in a mount namespace, where files are deleted from overlays.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDERS = ['/usr/bin', '/usr/sbin', '/usr/local/bin', '/usr/local/sbin', '/run'];
const HIDDEN =
  /^(bwrap|python[0-9.]*|docker.*|containerd.*|runc|runsc|crun|podman|git|strace|mmdebstrap|debootstrap|prlimit|ceph.*|radosgw.*)$/;
/** Where the overlays keep what they change: a folder that every machine has and no test looks into. */
const STORE = '/mnt';

/** A run of all tests also shows whether its opening line was right. */
const CHECKED = [
  'default',
  ...['opening-line', 'closing-line', 'outlook-check'].map((name) => `./scripts/${name}-reporter.ts`),
].map((name) => `--reporter=${name}`);

const [mode, ...rest] = process.argv.slice(2);
process.exitCode = mode === '--inside' ? await runTests(rest) : await enter(process.argv.slice(2));

/** Starts this script again in a mount namespace; whoever is not uid 0 is so in there, until the tests start. */
async function enter(args: readonly string[]): Promise<number> {
  const isRoot = process.getuid?.() === 0;
  const words = ['--mount', ...(isRoot ? [] : ['--map-root-user']), '--', process.execPath, script(), '--inside'];
  return run('unshare', [...words, isRoot ? '' : `${process.getuid?.()}:${process.getgid?.()}`, ...args]);
}

async function runTests([user = '', ...args]: readonly string[]): Promise<number> {
  call('mount', '-t', 'tmpfs', 'tmpfs', STORE);
  for (const folder of FOLDERS) if (existsSync(folder)) hideIn(realpathSync(folder));
  const left = FOLDERS.filter((folder) => existsSync(folder)).flatMap((folder) => hiddenIn(folder));
  if (left.length > 0) throw new Error(`Cannot run the tests bare: these are still there, got ${left.join(', ')}.`);
  const tests = [process.execPath, 'node_modules/vitest/vitest.mjs', 'run', ...(args.length === 0 ? CHECKED : args)];
  if (user === '') return run(tests[0] ?? '', tests.slice(1));
  const [uid = '', gid = ''] = user.split(':');
  return run('unshare', [`--map-user=${uid}`, `--map-group=${gid}`, '--', ...tests]);
}

function hideIn(folder: string): void {
  if (hiddenIn(folder).length === 0) return;
  const store = join(STORE, folder.replaceAll('/', '-'));
  const [upper, work] = [join(store, 'upper'), join(store, 'work')];
  for (const made of [upper, work]) mkdirSync(made, { recursive: true });
  call('mount', '-t', 'overlay', '-o', `lowerdir=${folder},upperdir=${upper},workdir=${work}`, 'overlay', folder);
  for (const path of hiddenIn(folder)) rmSync(path, { recursive: true, force: true });
}

function hiddenIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => HIDDEN.test(name))
    .map((name) => join(folder, name));
}

function call(program: string, ...args: string[]): void {
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8' });
  if (status === 0) return;
  throw new Error(`Cannot hide what this machine has: ${program} ${args.join(' ')} failed, got ${stderr}.`, {
    cause: error,
  });
}

async function run(program: string, args: readonly string[]): Promise<number> {
  const { CI: _, DOCKER_HOST: __, DOCKER_CONTEXT: ___, ...env } = process.env;
  const child = spawn(program, args, { stdio: 'inherit', env });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

function script(): string {
  return fileURLToPath(import.meta.url);
}
