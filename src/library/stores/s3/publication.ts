import { createHash, randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { parseBoundedJson } from '../../../protocol/channel/bounded-json.ts';
import { faultyPaths } from '../../../skills/text/file-path.ts';
import { keyFault } from './key-fault.ts';

/** Object beside the files of a skill that lists the files of one state. */
export const PUBLICATION_FILE = '.skillcell.json';
/** Folder beside them for files of a state that are not yet at their places. */
export const STAGE_FOLDER = '.skillcell';
/** Limit of a {@link PUBLICATION_FILE}, in bytes. */
export const PUBLICATION_BYTES: number = 8 * 1024 * 1024;

/** A file of a {@link Publication}. */
export interface PublishedFile {
  path: string;
  digest: string;
  bytes: number;
  executable: boolean;
  etag: string;
}

/** Content of a {@link PUBLICATION_FILE}. */
export interface Publication {
  schema: typeof SCHEMA;
  /** Id of this write. */
  write: string;
  /**
   * `staged`: the files are below the stage of this write. `settled`: they are at their places, with these ETags. `deleted`: objects that are still
   * at their places with these ETags are no longer files.
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

/** A publication of a write with a new id. */
export function newPublication(state: Publication['state'], files: PublishedFile[]): Publication {
  return { schema: SCHEMA, write: randomUUID(), state, files };
}

/** The bytes of a {@link PUBLICATION_FILE}. */
export function writePublication(publication: Publication): Uint8Array {
  return Buffer.from(`${JSON.stringify(publication)}\n`);
}

/** Undefined where the bytes are not a valid publication: other JSON, too deep, too long, or with unusable names. */
export function readPublication(bytes: Uint8Array): Publication | undefined {
  let said: unknown;
  try {
    said = parseBoundedJson(bytes, { maxBytes: PUBLICATION_BYTES, maxDepth: 4 });
  } catch {
    // The caller reports the invalid file.
    return undefined;
  }
  const parsed = publicationSchema.safeParse(said);
  return parsed.success && faultyPaths(parsed.data.files.map(({ path }) => path)).length === 0
    ? parsed.data
    : undefined;
}

/** The key below the folder of a skill for a staged file of a write. It has a digest in place of the path, as a path could make it too long. */
export function stagedPath(write: string, path: string): string {
  return `${stageOf(write)}${createHash('sha256').update(path).digest('hex')}`;
}

/** The folder of a write's staged files below that of the skill, with a separator at its end. */
export function stageOf(write: string): string {
  return `${STAGE_FOLDER}/${write}/`;
}

/** Whether a path below the folder of a skill is reserved for publications, and so no file of the skill. */
export function isReserved(path: string): boolean {
  return path === PUBLICATION_FILE || path === STAGE_FOLDER || path.startsWith(`${STAGE_FOLDER}/`);
}
