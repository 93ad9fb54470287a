/** Calls of one program that may have no answer yet: the supervisor reads no more of them. */
export const CALLS_UNDER_WAY = 64;

/** Bytes in the arguments, or the result, of one call. */
export const MAX_CALL_BYTES: number = 8 * 1024 * 1024;

/** Bytes in the arguments of calls that have no answer yet. */
export const CALL_BYTES_UNDER_WAY: number = 32 * 1024 * 1024;
