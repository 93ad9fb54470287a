/** Most unanswered calls of one program; the supervisor reads no further call. */
export const CALLS_UNDER_WAY = 64;

/** Most bytes in the arguments, or in the result, of one call. */
export const MAX_CALL_BYTES: number = 8 * 1024 * 1024;

/** Most bytes in the arguments of all unanswered calls. */
export const CALL_BYTES_UNDER_WAY: number = 32 * 1024 * 1024;
