import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { basename, delimiter, dirname, join, resolve } from 'node:path';
import { DEBIAN_RELEASE } from '../src/sandboxes/docker/build/local-base.ts';

const HOME = '/root';
/** The folder of the checkout in the root: an ordinary user can read it. */
const CHECKOUT = '/srv/checkout';
/** Parts of a checkout that a fresh clone lacks. */
const MADE_HERE: ReadonlySet<string> = new Set([
  '.git',
  'node_modules',
  '.toolchain',
  'dist',
  'coverage',
  '.tmp',
  '.vitest',
]);
/** Settings of npm for the registry of packages. */
const REGISTRY_SETTINGS = ['registry', 'cafile'] as const;

/**
 * Enters the root as after a boot: the mount namespace lacks the machine's own root, and processes that a command leaves behind end with the process
 * namespace. A mere chroot is not enough, because the kernel then refuses `unshare --user`.
 */
const ENTER = `
set -e
cd "$1"
mount --bind . .
cd "$1"
mount -t proc proc proc
mount --rbind /sys sys
mount --rbind /dev dev
mount -t tmpfs tmpfs tmp
mkdir -p ".$3"
mount --bind "$2" ".$3"
pivot_root . mnt
cd /
umount -l /mnt
shift 3
cd "$1"
shift
"$@"
`;

/** A folder with a Debian, Node, npm and a copy of the checkout. */
export interface BareRoot extends Disposable {
  /** Runs a command in the copy, with its own environment. @returns the command's exit code */
  run(command: readonly string[]): Promise<number>;
}

/** Makes a bare root with mmdebstrap, as root. It uses npm's cache and registry of this machine. */
export function makeBareRoot(checkout: string): BareRoot {
  const folder = mkdtempSync(join(tmpdir(), 'skillcell-bare-'));
  let running: ChildProcess | undefined;
  const remove = (): void => {
    // The mounts end with their namespace, and this process never sees them.
    running?.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  const end = (signal: NodeJS.Signals): never => process.exit(128 + constants.signals[signal]);
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.once(signal, end);
  process.once('exit', remove);
  call('mmdebstrap', '--variant=minbase', '--quiet', DEBIAN_RELEASE, folder);
  chmodSync(folder, 0o755);
  for (const name of ['/etc/resolv.conf', '/etc/hosts']) if (existsSync(name)) copyFileSync(name, join(folder, name));
  addNode(folder);
  const cache = addNpm(folder);
  cpSync(checkout, join(folder, CHECKOUT), {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => dirname(path) !== resolve(checkout) || !MADE_HERE.has(basename(path)),
  });
  return {
    async run(command) {
      const words = ['--mount', '--pid', '--fork', '--kill-child', '/bin/sh', '-c', ENTER, 'sh'];
      running = spawn('unshare', [...words, folder, cache, `${HOME}/.npm`, CHECKOUT, ...command], {
        stdio: 'inherit',
        env: environment(),
      });
      const [code] = (await once(running, 'exit')) as [number | null];
      running = undefined;
      return code ?? 1;
    },
    [Symbol.dispose]() {
      for (const signal of signals) process.off(signal, end);
      process.off('exit', remove);
      remove();
    },
  };
}

/** Adds the Node of this machine, or the checkout's own Node if the machine's does not run on a bare Debian. */
function addNode(folder: string): void {
  const place = join(folder, 'usr/local/bin/node');
  const found = (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((part) => join(part, 'node'))
    .filter((path) => existsSync(path) && !path.includes('/.toolchain/'));
  for (const path of [...found.slice(0, 1), process.execPath]) {
    copyFileSync(realpathSync(path), place);
    chmodSync(place, 0o755);
    if (spawnSync('chroot', [folder, '/usr/local/bin/node', '--version']).status === 0) return;
  }
  throw new Error(`Cannot make a bare machine: no Node of this one runs on a bare Debian, got ${process.execPath}.`);
}

/** Adds npm, which is plain JavaScript, and this machine's settings for the registry. @returns the folder of npm's cache */
function addNpm(folder: string): string {
  const launched = process.env['npm_execpath'];
  const script = launched ?? call('sh', '-c', 'readlink -f "$(command -v npm)"');
  const modules = join(folder, 'usr/local/lib/node_modules');
  mkdirSync(modules, { recursive: true });
  cpSync(join(dirname(realpathSync(script)), '..'), join(modules, 'npm'), { recursive: true, verbatimSymlinks: true });
  for (const name of ['npm', 'npx'])
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(folder, 'usr/local/bin', name));
  const settings = REGISTRY_SETTINGS.map((name) => [name, call('npm', 'config', 'get', name)] as const).filter(
    ([, value]) => value !== 'null' && value !== 'undefined' && value !== '',
  );
  const lines = settings.map(([name, value]) => `${name}=${value}\n`).join('');
  mkdirSync(join(folder, 'usr/local/etc'), { recursive: true });
  writeFileSync(join(folder, 'usr/local/etc/npmrc'), lines);
  const authorities = [...settings.filter(([name]) => name === 'cafile').map(([, value]) => value), certificates()];
  for (const file of authorities) {
    if (file === undefined || !existsSync(file)) continue;
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    copyFileSync(file, join(folder, file));
  }
  const cache = call('npm', 'config', 'get', 'cache');
  mkdirSync(cache, { recursive: true });
  return cache;
}

const certificates = (): string | undefined => process.env['NODE_EXTRA_CA_CERTS'];

/** The environment of a fresh login, with this machine's settings for a proxy and its certificates. */
function environment(): Record<string, string> {
  const network = /^(?:(?:https?|no)_proxy|node_extra_ca_certs|no_color)$/i;
  const kept = Object.entries(process.env).filter(([name]) => network.test(name)) as [string, string][];
  return {
    ...Object.fromEntries(kept),
    HOME,
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  };
}

function call(program: string, ...args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8' });
  if (status === 0) return stdout.trim();
  throw new Error(`Cannot make a bare machine: ${program} failed, got ${stderr?.trim()}.`, { cause: error });
}
