const MIB = 1024 * 1024;

/** Limits of a skill archive: packed and unpacked bytes, entries, and names in a path. */
export const ARCHIVE_LIMITS: { packedBytes: number; unpackedBytes: number; entries: number; depth: number } = {
  packedBytes: 10 * MIB,
  unpackedBytes: 50 * MIB,
  entries: 500,
  depth: 16,
};

/** Most bytes of one name between slashes, and of a whole path. */
export const NAME_BYTES = 255;
export const PATH_BYTES = 1_024;
