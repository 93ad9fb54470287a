import { closeSync, constants, fstatSync, openSync, readFileSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { parseBoundedJson } from '../../protocol/channel/bounded-json.ts';
import { syncFolder, writeAside } from '../../durable/durable-file.ts';
import { makeFolders } from '../../durable/make-folders.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { compareCodePoints } from '../../skills/text/text.ts';
import { withExclusive } from '../lock/with-exclusive.ts';

/** The trust in a project. */
export interface TrustedProject {
  /** Digest of its skills at the review; null where all its skills are trusted, also later ones. */
  digest: string | null;
}

/** Projects by their canonical paths. */
export type TrustedProjects = ReadonlyMap<string, TrustedProject>;

/** The trusted projects, and the reason where the file is ignored. */
export interface TrustReading {
  projects: TrustedProjects;
  fault?: string;
}

const FILE_BYTES = 4 * 1024 * 1024;
/** Permissions of users other than the owner. */
const OTHERS = 0o077;

const schema = z.strictObject({
  version: z.literal(1),
  projects: z.record(
    z.string().check(z.startsWith('/')),
    z.strictObject({ digest: z.nullable(z.string().check(z.regex(/^sha256:[0-9a-f]{64}$/))) }),
  ),
});

/** Path of the file of trusted projects. */
export function trustFile(folder: string): string {
  return join(folder, 'trust.json');
}

/** Reads the trusted projects. A file that other users can read or write trusts none. */
export function readTrust(path: string): TrustReading {
  const none = new Map<string, TrustedProject>();
  let text: string;
  try {
    const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stats = fstatSync(descriptor);
      const { uid, mode, size } = stats;
      if (!stats.isFile()) return { projects: none, fault: 'it is no regular file' };
      if (uid !== (process.getuid?.() ?? uid)) return { projects: none, fault: 'it belongs to another user' };
      if ((mode & OTHERS) !== 0) return { projects: none, fault: 'others may read or write it; its mode must be 0600' };
      if (size > FILE_BYTES) return { projects: none, fault: 'it is over 4 MiB' };
      text = readFileSync(descriptor, 'utf8');
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return { projects: none };
    return { projects: none, fault: code === 'ELOOP' ? 'it is a link' : `it cannot be read (${message})` };
  }
  try {
    const parsed = schema.parse(parseBoundedJson(Buffer.from(text), { maxBytes: FILE_BYTES, maxValues: 100_000 }));
    return { projects: new Map(Object.entries(parsed.projects)) };
  } catch {
    return { projects: none, fault: 'it does not say which projects are trusted' };
  }
}

/**
 * Changes the trust in a project. Processes take turns.
 *
 * @param project canonical path
 * @param trusted null removes the trust
 * @returns whether the project was trusted before
 * @throws SkillcellError `file.unreadable` where the present file is ignored, and so cannot be extended
 */
export async function changeTrust(path: string, project: string, trusted: TrustedProject | null): Promise<boolean> {
  const folder = dirname(path);
  makeFolders(folder, 0o700);
  return await withExclusive(`${path}.lock`, () => {
    const { projects, fault } = readTrust(path);
    if (fault !== undefined) {
      throw new SkillcellError('file.unreadable', `Cannot change which projects are trusted: ${fault}, got ${path}.`);
    }
    const next = new Map(projects);
    if (trusted === null) next.delete(project);
    else next.set(project, trusted);
    const sorted = [...next].toSorted(([a], [b]) => compareCodePoints(a, b));
    const written = { version: 1, projects: Object.fromEntries(sorted) };
    renameSync(writeAside(folder, `${JSON.stringify(written, null, 2)}\n`), path);
    syncFolder(folder);
    return projects.has(project);
  });
}
