import { createHash, randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { parseBoundedJson } from '../../../protocol/channel/bounded-json.ts';
import { faultyPaths } from '../../../skills/text/file-path.ts';
import { keyFault } from './key-fault.ts';

/** Object beside the files of a skill that says which of them are one state. */
export const PUBLICATION_FILE = '.skillcell.json';
/** Folder beside them with the files of a state that is not yet at its place. */
export const STAGE_FOLDER = '.skillcell';
/** The most bytes of a {@link PUBLICATION_FILE}. */
export const PUBLICATION_BYTES: number = 8 * 1024 * 1024;

/** A file of a {@link Publication}. */
export interface PublishedFile {
  path: string;
  digest: string;
  bytes: number;
  executable: boolean;
  etag: string;
}

/** What a {@link PUBLICATION_FILE} says. */
export interface Publication {
  schema: typeof SCHEMA;
  /** Of this write, and of no other one. */
  write: string;
  /**
   * `staged`: the files are below the stage of this write. `settled`: they are at their places, with these ETags. `deleted`: what is still
   * at its place with these ETags is no file any more.
   */
  state: 'staged' | 'settled' | 'deleted';
  files: PublishedFile[];
}

const SCHEMA = 'skillcell/published-skill@1';
const FILES = 20_000;

const publicationSchema: z.ZodMiniType<Publication> = z.strictObject({
  schema: z.literal(SCHEMA),
  write: z.string().check(z.regex(/^[0-9a-f-]{36}$/)),
  state: z.enum(['staged', 'settled', 'deleted']),
  files: z
    .array(
      z.strictObject({
        path: z.string().check(z.refine((path) => keyFault(path) === undefined && !isReserved(path))),
        digest: z.string().check(z.regex(/^sha256:[0-9a-f]{64}$/)),
        bytes: z.number().check(z.int(), z.minimum(0)),
        executable: z.boolean(),
        etag: z.string().check(z.maxLength(200)),
      }),
    )
    .check(z.maxLength(FILES)),
});

/** A publication of a write that has no other one's name. */
export function newPublication(state: Publication['state'], files: PublishedFile[]): Publication {
  return { schema: SCHEMA, write: randomUUID(), state, files };
}

/** The bytes of a {@link PUBLICATION_FILE}. */
export function writePublication(publication: Publication): Uint8Array {
  return Buffer.from(`${JSON.stringify(publication)}\n`);
}

/** Undefined where the bytes say nothing that counts: JSON of somebody else, too deep, too long, or with names of another kind. */
export function readPublication(bytes: Uint8Array): Publication | undefined {
  let said: unknown;
  try {
    said = parseBoundedJson(bytes, { maxBytes: PUBLICATION_BYTES, maxDepth: 4 });
  } catch {
    // Whoever asks reports that it says nothing.
    return undefined;
  }
  const parsed = publicationSchema.safeParse(said);
  return parsed.success && faultyPaths(parsed.data.files.map(({ path }) => path)).length === 0
    ? parsed.data
    : undefined;
}

/** The key below the folder of a skill at which a file of a write waits. The path is not in it: its key could be too long. */
export function stagedPath(write: string, path: string): string {
  return `${stageOf(write)}${createHash('sha256').update(path).digest('hex')}`;
}

/** The folder below that of a skill in which the files of a write wait, with the separator at its end. */
export function stageOf(write: string): string {
  return `${STAGE_FOLDER}/${write}/`;
}

/** Whether a path below the folder of a skill is ours and no file of it. */
export function isReserved(path: string): boolean {
  return path === PUBLICATION_FILE || path === STAGE_FOLDER || path.startsWith(`${STAGE_FOLDER}/`);
}
