/** Codes of errors about where skills come from, apart from the others: a sandbox has no stores, and its entry no room for them. */
export const LIBRARY_ERRORS = {
  'store.unavailable': {
    http: 503,
    exitCode: 3,
    retry: true,
    advice:
      "Try again when the source answers; the message says what it said. `stale: 'use'` goes on with what was read before.",
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
    advice: 'Another one wrote first: read the present revision, and write onto that.',
  },
  'store.read-only': {
    http: 405,
    exitCode: 2,
    retry: false,
    advice: 'Write to a store that takes it, such as a bucket; this one is only read.',
  },
  'store.unsupported': {
    http: 501,
    exitCode: 2,
    retry: false,
    advice: 'Write to a service that keeps the conditions of writes (If-Match, If-None-Match); reading needs none.',
  },
  'store.key-invalid': {
    http: 400,
    exitCode: 2,
    retry: false,
    advice: 'Name the file by a plain path: no `..`, no empty name, no backslash, no control character.',
  },
  'source.refused': {
    http: 400,
    exitCode: 2,
    retry: false,
    advice: 'Name a source that may be read from here; docs/sources.md has the kinds and what is refused.',
  },
  'path.unusable': {
    http: 500,
    exitCode: 2,
    retry: false,
    advice: 'Change the rights of what the message names, or name another place.',
  },
  'disk.full': {
    http: 507,
    exitCode: 3,
    retry: true,
    advice: 'Make room where the message says, or name a place that has some, and do it again.',
  },
  'lock.invalid': {
    http: 400,
    exitCode: 2,
    retry: false,
    advice:
      'Mend skillcell.lock.json, or take it from version control; it is written by `skillcell skills add` and not by hand.',
  },
  'lock.mismatch': {
    http: 409,
    exitCode: 2,
    retry: false,
    advice:
      '`skillcell skills verify` names what differs; `install` brings back what is locked, `update` locks what is there.',
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
    advice: "Use a Node whose `node:sqlite` has FTS5; the project's own has.",
  },
} as const;
