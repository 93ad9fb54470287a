import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { ARCHIVE_LIMITS } from '../../archives/checks/archive-limits.ts';
import { ArchiveRefusal, archiveRefused } from '../../archives/checks/archive-refused.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { inPackage } from '../../contracts/package-root.ts';
import { quotedText } from '../../contracts/text/quoted-text.ts';
import { createLimiter } from '../../protocol/limiter.ts';
import { withinDeadline } from '../../protocol/within-deadline.ts';
import type { TreeScan } from '../../scan/scan-tree.ts';
import type { DescribedSkill } from './describe-skill.ts';

/** The bytes of an archive: in memory, or in a file, which the process of the work reads itself. */
export type ArchiveContent = { bytes: Uint8Array } | { path: string };

/** An archive, and the work on it. */
export type ArchiveWork = ArchiveContent & {
  /** File name of the archive. */
  file: string;
} & (
    | {
        type: 'check';
        /** Name of the skill; by default that of its folder, or of the archive. */
        name?: string | undefined;
        isPublic: boolean;
      }
    /** Puts the files into a cache. */
    | { type: 'keep'; cacheFolder: string; cacheBytes: number }
  );

/** The skill in an archive, with the findings of a scan. */
export interface CheckedSkill extends DescribedSkill, Pick<TreeScan, 'findings' | 'unscanned'> {
  fileSize: number;
  /** SHA-256 of the archive, in hex. */
  fileHash: string;
}

/** The end of the work. */
export interface ArchiveAnswer {
  skill?: CheckedSkill | undefined;
  error?: ReturnType<SkillcellError['toJSON']>;
  /** A fault of ours, or a lack of memory. The process ends after it. */
  fault?: { isMemory: boolean; message: string };
}

/** Options of a check. */
export interface WorkOptions {
  signal?: AbortSignal | undefined;
  /** @default 30,000 */
  timeoutMs?: number | undefined;
  /** Memory of the work for its objects, in MiB. @default 512 */
  heapMib?: number | undefined;
}

const TIMEOUT_MS = 30_000;
/** A text of 50 MiB is searched in several forms. */
const HEAP_MIB = 512;
/** Time without work after which the process ends. */
const IDLE_MS = 10_000;

/** Two archives at once would take the memory of both. */
const oneAtATime = createLimiter({ room: 1 });

/**
 * Reads an archive in a process of its own, whose memory is not that of this one. Archives are read one at a time.
 *
 * @throws SkillcellError `archive.refused`, `skills.invalid`
 */
export async function workOnArchive(work: ArchiveWork, options: WorkOptions = {}): Promise<CheckedSkill | undefined> {
  const { signal, timeoutMs = TIMEOUT_MS, heapMib = HEAP_MIB } = options;
  const refusal = (reason: string): unknown =>
    archiveRefused(new ArchiveRefusal('archive.size', reason), quotedText(work.file));
  const { packedBytes } = ARCHIVE_LIMITS;
  if ('bytes' in work && work.bytes.length > packedBytes)
    throw refusal(`it has more than ${packedBytes} bytes, ${work.bytes.length}`);
  const leave = await oneAtATime.enter({ signal });
  const child = heapMib === HEAP_MIB ? takeIdle() : startProcess(heapMib);
  const { promise, resolve, reject } = Promise.withResolvers<ArchiveAnswer>();
  const fail = (reason: unknown): void =>
    reject(new Error('Cannot read the archive: the process for it has ended.', { cause: reason }));
  child.once('message', resolve).once('error', fail).once('exit', fail);
  let isSound = false;
  try {
    child.send(work, (error) => {
      if (error !== null) fail(error);
    });
    const { skill, error, fault } = await withinDeadline(promise, {
      limitMs: timeoutMs,
      overdue() {
        throw refusal(`its check takes more than ${timeoutMs / 1_000} s`);
      },
      signal,
    });
    if (fault?.isMemory === true) throw refusal(`its check takes more than ${heapMib} MiB of memory`);
    if (fault !== undefined) throw new Error(fault.message);
    isSound = true;
    if (error === undefined) return skill;
    const { code, message, hint, diagnostics } = error;
    throw new SkillcellError(code, message, { hint, diagnostics });
  } finally {
    child.off('message', resolve).off('error', fail).off('exit', fail);
    if (isSound && heapMib === HEAP_MIB) keepIdle(child);
    else await endProcess(child);
    leave?.();
  }
}

/** Its start takes longer than a small archive. */
let idle: { child: ChildProcess; ending: NodeJS.Timeout } | undefined;

function takeIdle(): ChildProcess {
  if (idle === undefined) return startProcess(HEAP_MIB);
  const { child, ending } = idle;
  clearTimeout(ending);
  idle = undefined;
  child.ref();
  child.channel?.ref();
  return child;
}

/** An idle process keeps this one from no end, and ends with it. */
function keepIdle(child: ChildProcess): void {
  child.unref();
  child.channel?.unref();
  const end = (): void => {
    idle = undefined;
    void endProcess(child);
  };
  idle = { child, ending: setTimeout(end, IDLE_MS).unref() };
}

function startProcess(heapMib: number): ChildProcess {
  const child = fork(fileOf('archive-process'), [fileOf('archive-worker'), String(heapMib)], {
    // Bytes are sent as they are.
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    // No variable and no flag of this process changes its work.
    env: {},
    execArgv: [],
  });
  // Without a listener, an error after the end of its work would end this process.
  child.on('error', () => undefined);
  child.on('exit', () => {
    if (idle?.child !== child) return;
    clearTimeout(idle.ending);
    idle = undefined;
  });
  return child;
}

async function endProcess(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** The modules of the process and of its thread, built or not. */
function fileOf(name: 'archive-process' | 'archive-worker'): string {
  return import.meta.url.endsWith('.ts')
    ? fileURLToPath(new URL(`./${name}.ts`, import.meta.url))
    : inPackage(`dist/registry/skills/${name}.js`);
}
