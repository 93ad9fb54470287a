import { lstat, open, readdir, readFile, readlink, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { listOwnContainers } from '../fixtures/own-containers.ts';
import { read, sandboxProcesses } from './leftovers.ts';
import type { Level } from './surroundings.ts';

/** A word, and the place in a sandbox that has it: a file, or the memory of a command. */
export interface Finding {
  word: string;
  place: string;
}

const CHUNK_BYTES = 1024 ** 2;
/** File systems of the kernel itself, in which programs store nothing. */
const KERNEL_FILES: ReadonlySet<string> = new Set(['proc', 'sysfs', 'cgroup', 'cgroup2', 'devpts']);

/** The processes of the sandboxes of this process, by their ids on this machine, without those of `known`. */
export async function processesOf(level: Level, known: ReadonlySet<number>): Promise<number[]> {
  if (level !== 'container') return sandboxProcesses().filter((pid) => !known.has(pid));
  const containers = await listOwnContainers();
  const all = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  return all.filter((pid) => containers.some(({ Id }) => read(pid, 'cgroup').includes(Id)));
}

/** Searches sandboxes, as root, for words: the memory of their processes, their open files, and all files that someone in them can have written. */
export async function searchSandbox(
  pids: readonly number[],
  words: Readonly<Record<string, string>>,
): Promise<Finding[]> {
  const search = createSearch(words);
  const own = await readlink('/proc/self/ns/mnt');
  const searched = new Set([own]);
  for (const pid of pids) {
    await searchMemory(pid, search);
    await searchOpenFiles(pid, search);
    const space = await unlessEnded(readlink(`/proc/${pid}/ns/mnt`), own);
    if (searched.has(space)) continue;
    searched.add(space);
    for (const path of writableMounts(pid)) await searchFolder(`/proc/${pid}/root`, path, search);
  }
  return search.found();
}

interface Search {
  /** The longest word. */
  bytes: number;
  take(bytes: Buffer, place: string): void;
  found(): Finding[];
}

function createSearch(words: Readonly<Record<string, string>>): Search {
  // A string of V8 with a character beyond Latin-1 has two bytes for each.
  const wanted = Object.entries(words).map(
    ([word, text]) => [word, [Buffer.from(text), Buffer.from(text, 'utf16le')]] as const,
  );
  const found = new Map<string, Finding>();
  return {
    bytes: Math.max(...wanted.flatMap(([, forms]) => forms.map(({ length }) => length))),
    take(bytes, place) {
      for (const [word, forms] of wanted)
        if (forms.some((form) => bytes.includes(form))) found.set(`${word} ${place}`, { word, place });
    },
    found: () => [...found.values()],
  };
}

/** Memory of a process that a program can have written. */
async function searchMemory(pid: number, search: Search): Promise<void> {
  const place = `memory of ${commandOf(pid)}`;
  const file = await unlessEnded(open(`/proc/${pid}/mem`, 'r'), undefined);
  if (file === undefined) return;
  const chunk = Buffer.alloc(CHUNK_BYTES);
  for (const row of read(pid, 'maps').split('\n')) {
    const [, start = '', end = '', access = '', path = ''] = /^(\w+)-(\w+) (\S+) \S+ \S+ \S+ *(.*)$/.exec(row) ?? [];
    // Unchanged files of the machine, and the kernel's own pages.
    if (!access.startsWith('r') || path.startsWith('[v') || (path.startsWith('/') && !access.includes('w'))) continue;
    for (let at = Number.parseInt(start, 16); at < Number.parseInt(end, 16); at += CHUNK_BYTES - search.bytes) {
      const length = Math.min(CHUNK_BYTES, Number.parseInt(end, 16) - at);
      // The kernel shows some parts to no process.
      const { bytesRead } = await file.read(chunk, 0, length, at).catch(() => ({ bytesRead: 0 }));
      search.take(chunk.subarray(0, bytesRead), place);
    }
  }
  await file.close();
}

/** Open files, some of which have no name. A pipe is not read: its bytes would be lost. */
async function searchOpenFiles(pid: number, search: Search): Promise<void> {
  const folder = `/proc/${pid}/fd`;
  for (const name of await unlessEnded(readdir(folder), [])) {
    const status = await unlessEnded(stat(join(folder, name)), undefined);
    if (status?.isFile() === true) await searchFile(join(folder, name), `an open file of ${commandOf(pid)}`, search);
  }
}

/** The mounts of a process that can be written by someone in its sandbox. */
function writableMounts(pid: number): string[] {
  return read(pid, 'mountinfo')
    .split('\n')
    .flatMap((row) => {
      const [before = '', after = ''] = row.split(' - ');
      const [, , , , path = '', options = ''] = before.split(' ');
      const [type = ''] = after.split(' ');
      const isWritable = type === 'tmpfs' || options.split(',').includes('rw');
      return isWritable && path !== '' && !KERNEL_FILES.has(type) ? [path] : [];
    });
}

/** The files of one mount. */
async function searchFolder(root: string, folder: string, search: Search): Promise<void> {
  const top = await unlessEnded(lstat(join(root, folder)), undefined);
  if (top?.isFile() === true) return await searchFile(join(root, folder), folder, search);
  const walk = async (path: string): Promise<void> => {
    const at = await unlessEnded(lstat(join(root, path)), undefined);
    if (at?.isFile() === true) return await searchFile(join(root, path), path, search);
    // A mount in a mount has its own row.
    if (at?.isDirectory() !== true || at.dev !== top?.dev) return;
    for (const name of await unlessEnded(readdir(join(root, path)), [])) await walk(join(path, name));
  };
  await walk(folder);
}

function commandOf(pid: number): string {
  return basename(read(pid, 'cmdline').split('\0')[0] ?? '');
}

async function searchFile(path: string, place: string, search: Search): Promise<void> {
  search.take(await unlessEnded(readFile(path), Buffer.alloc(0)), place);
}

/** Processes and their files may end meanwhile; the kernel lets no process read some files. */
async function unlessEnded<Value, Other>(reading: Promise<Value>, other: Other): Promise<Value | Other> {
  return await reading.catch(() => other);
}
