import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { sandboxProcesses } from './leftovers.ts';

/** The kernel's view of one process. */
export interface KernelView {
  pid: number;
  parent: number;
  session: number;
  folder: string;
  words: string[];
  status: Record<string, string>;
  /** Links of `/proc/PID/ns` by their name. */
  ns: Record<string, string>;
  uidMap: string;
  gidMap: string;
  environment: string[];
  oomScore: string;
  hostName: string;
  /** Limits of each resource, in the kernel's words. */
  limits: Record<string, string>;
  /** Mounts by path: kind, options and the options of the file system. */
  mounts: Record<string, string>;
}

/** The processes of one sandbox, and some of them by their role. */
export interface SandboxView {
  all: KernelView[];
  /** The first process: the outer bubblewrap, on the side of the host. */
  monitor: KernelView;
  entry: KernelView;
  executor: KernelView;
  innerMonitor: KernelView;
}

const NAMESPACES = ['user', 'pid', 'net', 'ipc', 'uts', 'cgroup', 'mnt'] as const;

/** Reads all processes of the only running sandbox; `undefined` while a part of it has not started. */
export function lookAtSandbox(known: ReadonlySet<number>): SandboxView | undefined {
  const all = sandboxProcesses()
    .filter((pid) => !known.has(pid))
    .flatMap((pid) => {
      try {
        return [lookAtProcess(pid)];
      } catch {
        // Ended between the listing and here.
        return [];
      }
    });
  const isBubblewrap = ({ words }: KernelView): boolean => /(^|\/)bwrap$/.test(words[0] ?? '');
  const monitor = all.find(({ words }) => words.includes('/opt/skillcell/launch/enter-namespace.sh'));
  const entry = all.find(({ words }) => /(^|\/)node$/.test(words[0] ?? '') && words[1]?.endsWith('/start-entry.cjs'));
  const executor = all.find(
    (view) => view.words[0]?.endsWith('python3') === true && view.words.some((word) => word.startsWith('/workspace/')),
  );
  const innerMonitor = all.find((view) => isBubblewrap(view) && view.parent === entry?.pid);
  if (monitor === undefined || entry === undefined || executor === undefined || innerMonitor === undefined)
    return undefined;
  return { all, monitor, entry, executor, innerMonitor };
}

/** Reads one process. Requires the right to inspect it. */
export function lookAtProcess(pid: number): KernelView {
  const file = (name: string): string => readFileSync(`/proc/${pid}/${name}`, 'latin1');
  const stat = file('stat');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const status = Object.fromEntries(
    file('status')
      .split('\n')
      .filter((line) => line.includes(':'))
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
  );
  return {
    pid,
    parent: Number(fields[1]),
    session: Number(fields[3]),
    folder: readlinkSync(`/proc/${pid}/cwd`),
    words: file('cmdline').split('\0').slice(0, -1),
    status,
    ns: Object.fromEntries(NAMESPACES.map((name) => [name, readlinkSync(`/proc/${pid}/ns/${name}`)])),
    uidMap: file('uid_map').trim().replaceAll(/\s+/g, ' '),
    gidMap: file('gid_map').trim().replaceAll(/\s+/g, ' '),
    environment: file('environ')
      .split('\0')
      .filter((entry) => entry !== ''),
    oomScore: file('oom_score_adj').trim(),
    hostName: hostNameOf(pid),
    limits: Object.fromEntries(
      file('limits')
        .split('\n')
        .slice(1)
        .filter((line) => line !== '')
        .map((line) => [line.slice(0, 26).trim(), line.slice(26).trim().split(/\s+/).slice(0, 2).join(' ')]),
    ),
    mounts: mountsOf(file('mountinfo')),
  };
}

function hostNameOf(pid: number): string {
  return execFileSync('/usr/bin/nsenter', [`--uts=/proc/${pid}/ns/uts`, '/bin/hostname'], { encoding: 'utf8' }).trim();
}

function mountsOf(text: string): Record<string, string> {
  return Object.fromEntries(
    text
      .trim()
      .split('\n')
      .map((line) => {
        const [before = '', after = ''] = line.split(' - ');
        const [, , , , place = '', options = ''] = before.split(' ');
        const [kind = '', , ofSystem = ''] = after.split(' ');
        // For file systems of the host, only the mount options matter.
        const detail = kind === 'tmpfs' ? ` ${ofSystem}` : '';
        return [place, `${kind === 'tmpfs' || kind === 'proc' ? kind : 'host'} ${options}${detail}`];
      }),
  );
}
