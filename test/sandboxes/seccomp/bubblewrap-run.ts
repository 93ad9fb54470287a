import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seccompBpf } from '../../../src/sandboxes/seccomp/seccomp-bpf.ts';
import type { ProbeRights } from './denied-calls.ts';

/** A uid that owns no files. Bubblewrap started by uid 0 would give the program access to root's files. */
const UNPRIVILEGED_UID = '61111';

const isRoot = process.getuid?.() === 0;

/** Path of a {@link SandboxFolder} inside a sandbox. */
const INSIDE = '/opt/test';

export const PYTHON = '/usr/bin/python3';

function programAt(rights: ProbeRights, more: readonly string[]): string[] {
  const drop = ['setpriv', `--reuid=${UNPRIVILEGED_UID}`, `--regid=${UNPRIVILEGED_UID}`, '--clear-groups'];
  const links = ['bin', 'sbin', 'lib', 'lib32', 'lib64'].filter((name) => existsSync(`/usr/${name}`));
  return [
    ...(isRoot && rights !== 'root' ? drop : []),
    ...[
      'bwrap',
      '--unshare-pid',
      '--unshare-net',
      '--unshare-ipc',
      '--unshare-uts',
      '--die-with-parent',
      '--new-session',
    ],
    ...(rights === 'root' ? [] : ['--unshare-user']),
    // Only as uid 0 of its namespaces: for another uid, bubblewrap adds a user namespace that does not own the others.
    ...(rights === 'namespace' ? ['--uid', '0', '--gid', '0'] : []),
    ...(rights === 'user' ? ['--cap-drop', 'ALL'] : ['--cap-add', 'ALL']),
    ...[
      '--clearenv',
      '--setenv',
      'PATH',
      `/usr/bin:/bin:${INSIDE}`,
      '--setenv',
      'LANG',
      'C.UTF-8',
      '--setenv',
      'HOME',
      '/tmp',
    ],
    ...['--ro-bind', '/usr', '/usr', '--ro-bind-try', '/etc/ld.so.cache', '/etc/ld.so.cache'],
    ...links.flatMap((name) => ['--symlink', `usr/${name}`, `/${name}`]),
    ...['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', '--chdir', '/tmp'],
    ...more,
  ];
}

/** The reason why programs cannot run under bubblewrap here, from a trial run. */
export function missingForBubblewrap(): string | undefined {
  if (process.platform !== 'linux' || (process.arch !== 'x64' && process.arch !== 'arm64'))
    return 'Linux on x64 or arm64';
  const [command = '', ...words] = programAt('user', ['true']);
  const tried = spawnSync(command, words, { encoding: 'utf8' });
  if (tried.status === 0) return undefined;
  return `a working bubblewrap (${tried.error?.message ?? tried.stderr.trim()})`;
}

/** Like {@link missingForBubblewrap}, for programs that also need the system's Python. */
export function missingForPython(): string | undefined {
  return existsSync(PYTHON) ? missingForBubblewrap() : PYTHON;
}

/** The reason why a program cannot get these rights here. */
export function missingForRights(rights: ProbeRights): string | undefined {
  return rights === 'root' && !isRoot ? 'uid 0' : undefined;
}

/** Result of one run under bubblewrap. */
export interface SandboxRun {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** A world-readable folder with the filter and files for sandboxes, because an unprivileged uid may not be able to read the checkout. */
export class SandboxFolder implements Disposable {
  readonly #path: string = mkdtempSync(join(tmpdir(), 'seccomp-test-'));

  constructor() {
    chmodSync(this.#path, 0o755);
    writeFileSync(join(this.#path, 'filter.bpf'), seccompBpf(process.arch === 'arm64' ? 'arm64' : 'x64'));
  }

  /** Copies a file into the folder, and returns the path that sandboxes see. */
  add(name: string, source: string): string {
    copyFileSync(source, join(this.#path, name), constants.COPYFILE_FICLONE);
    chmodSync(join(this.#path, name), 0o755);
    return `${INSIDE}/${name}`;
  }

  /** Runs a program in a sandbox with these rights, with or without the filter. */
  run(rights: ProbeRights, filter: boolean, program: readonly string[]): SandboxRun {
    const filterFile = openSync(join(this.#path, 'filter.bpf'), 'r');
    const more = [...['--ro-bind', this.#path, INSIDE], ...(filter ? ['--seccomp', '3'] : []), ...program];
    const [command = '', ...words] = programAt(rights, more);
    try {
      return spawnSync(command, words, {
        encoding: 'utf8',
        timeout: 200_000,
        stdio: ['ignore', 'pipe', 'pipe', filterFile],
      });
    } finally {
      closeSync(filterFile);
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.#path, { recursive: true, force: true });
  }
}
