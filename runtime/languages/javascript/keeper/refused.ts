import type { SessionFault } from '../../../../src/protocol/messages/session-messages.ts';

/** A refusal, with the reason in words for the caller. */
export class Refused extends Error {}

/** The failure of an operation, for the supervisor. */
export interface Failure {
  error: string;
  fault?: SessionFault;
}

/** @param follow whether the operation follows links */
export function failureOf(error: unknown, follow: boolean): Failure {
  if (error instanceof Refused) return { error: error.message };
  const { code } = error as NodeJS.ErrnoException;
  // A path below a file cannot exist.
  const isMissing = code === 'ENOENT' || code === 'ENOTDIR';
  return { error: reasonOf(code, follow), ...(isMissing ? { fault: 'missing' } : {}) };
}

function reasonOf(code: string | undefined, follow: boolean): string {
  switch (code) {
    case 'ENOENT':
      return 'it is not there';
    case 'ELOOP':
    case 'ENOTDIR':
      return follow
        ? 'a file or a circle of links stands where a folder should'
        : 'a link or a file stands where a folder should, and no link is followed';
    case 'EISDIR':
      return 'it is a folder';
    case 'EACCES':
    case 'EPERM':
      return 'its permissions do not allow it';
    case 'ENOSPC':
    case 'EDQUOT':
      return 'the workspace is full';
    case undefined:
      return 'it could not be done';
    default:
      return `it could not be done (${code})`;
  }
}
