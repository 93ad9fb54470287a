/** Error codes of sources, stores and lock files. A separate list: a sandbox has no stores, and the code in it must stay small. */
export const LIBRARY_ERRORS = {
  'store.unavailable': {
    http: 503,
    exitCode: 3,
    retry: true,
    advice:
      "Try again when the source answers; the message has its last answer. `stale: 'use'` continues with the last good read.",
  },
  'store.changed': {
    http: 409,
    exitCode: 2,
    retry: true,
    advice: 'The skill changed while it was read: list the store again.',
  },
  'store.conflict': {
    http: 409,
    exitCode: 2,
    retry: true,
    advice: 'Another writer was first: read the current revision, and write on top of it.',
  },
  'store.read-only': {
    http: 405,
    exitCode: 2,
    retry: false,
    advice: 'Write to a writable store, such as a bucket; this one is read-only.',
  },
  'store.unsupported': {
    http: 501,
    exitCode: 2,
    retry: false,
    advice: 'Write to a service that supports conditional writes (If-Match, If-None-Match); reads do not need them.',
  },
  'store.key-invalid': {
    http: 400,
    exitCode: 2,
    retry: false,
    advice: 'Give the file a plain path: no `..`, no empty name, no backslash, no control character.',
  },
  'source.refused': {
    http: 400,
    exitCode: 2,
    retry: false,
    advice: 'Name a source that may be read from here; docs/sources.md lists the kinds and the refusals.',
  },
  'path.unusable': {
    http: 500,
    exitCode: 2,
    retry: false,
    advice: 'Change the permissions of the path in the message, or choose another path.',
  },
  'disk.full': {
    http: 507,
    exitCode: 3,
    retry: true,
    advice: 'Free space at the path in the message, or choose another place, and try again.',
  },
  'lock.invalid': {
    http: 400,
    exitCode: 2,
    retry: false,
    advice:
      'Correct skillcell.lock.json, or restore it from version control; `skillcell skills add` writes it, do not edit it by hand.',
  },
  'lock.mismatch': {
    http: 409,
    exitCode: 2,
    retry: false,
    advice:
      '`skillcell skills verify` names the differences; `install` restores the locked version, `update` locks the current version.',
  },
  'lock.unapproved': {
    http: 403,
    exitCode: 2,
    retry: false,
    advice: 'Look at the skill, then `skillcell skills approve REF --as WHO`.',
  },
  'search.unavailable': {
    http: 503,
    exitCode: 3,
    retry: false,
    advice: 'Use a Node whose `node:sqlite` has FTS5, such as the official builds.',
  },
} as const;
