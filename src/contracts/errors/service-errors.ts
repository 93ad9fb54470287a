/** Error codes of the service and its database. A separate list: a sandbox has no service, and the code in it must stay small. */
export const SERVICE_ERRORS = {
  'database.unavailable': {
    http: 503,
    exitCode: 3,
    retry: true,
    advice:
      'Start the database, correct its address, or free space on its disk; requests are answered again when it is back.',
  },
  'database.in-use': {
    http: 503,
    exitCode: 3,
    retry: true,
    advice:
      'One process at a time serves a database: end the other one, give this one another --state or --database, or make all of them replicas.',
  },
  'database.newer': {
    http: 503,
    exitCode: 3,
    retry: false,
    advice:
      'A newer version of skillcell has changed the database: start that version, or restore a backup from before.',
  },
  'service.unavailable': {
    http: 503,
    exitCode: 3,
    retry: true,
    advice: 'The service is ending, or cannot listen: try again later, or name a free port.',
  },
  'auth.required': {
    http: 401,
    exitCode: 2,
    retry: false,
    advice:
      'Send `Authorization: Bearer TOKEN` with a valid token; the first one is in `admin-token` of the state folder.',
  },
  'auth.forbidden': {
    http: 403,
    exitCode: 2,
    retry: false,
    advice: 'Ask an admin for it, or use a token that may make changes.',
  },
  'auth.host-refused': {
    http: 421,
    exitCode: 2,
    retry: false,
    advice: 'Call the service by its address, or start it with `--allow-host NAME`.',
  },
  'auth.origin-refused': {
    http: 403,
    exitCode: 2,
    retry: false,
    advice: 'Pages of other origins cannot call the service; call it from a program.',
  },
  'request.invalid': {
    http: 400,
    exitCode: 2,
    retry: false,
    advice: 'Correct the fields that `errors` points at; /openapi.json has the schema of each request.',
  },
  'request.too-large': { http: 413, exitCode: 2, retry: false, advice: 'Send less: docs/service.md has the limits.' },
  'request.media-type': {
    http: 415,
    exitCode: 2,
    retry: false,
    advice: 'Send JSON, or a form where the route takes one, without a content encoding.',
  },
  'request.method': { http: 405, exitCode: 2, retry: false, advice: 'Use a method of the header `Allow`.' },
  'request.range': { http: 416, exitCode: 2, retry: false, advice: 'Ask for a range within the bytes of the file.' },
  'request.timeout': { http: 408, exitCode: 2, retry: true, advice: 'Send the whole request sooner.' },
  'request.unconditional': {
    http: 428,
    exitCode: 2,
    retry: false,
    advice: 'Send the ETag of the version that you have read as `If-Match`.',
  },
  'resource.not-found': {
    http: 404,
    exitCode: 2,
    retry: false,
    advice: 'Name something that exists and that you may see; the lists show it.',
  },
  'resource.exists': {
    http: 409,
    exitCode: 2,
    retry: false,
    advice: 'Choose another name, or change the existing one.',
  },
  'resource.changed': {
    http: 412,
    exitCode: 2,
    retry: true,
    advice: 'Another change was first: read the resource again, and make your change on top of it.',
  },
  'resource.referenced': {
    http: 409,
    exitCode: 2,
    retry: false,
    advice: 'Remove the references first; the answer names them.',
  },
  'resource.read-only': {
    http: 409,
    exitCode: 2,
    retry: false,
    advice: 'It belongs to the package, or is the last of its kind, and cannot be changed.',
  },
  'kind.reference-missing': {
    http: 422,
    exitCode: 2,
    retry: false,
    advice: 'Name only what exists, your own or public; upload the missing skill first.',
  },
  'quota.exceeded': {
    http: 429,
    exitCode: 3,
    retry: true,
    advice: 'Too many jobs wait: try again later, or raise `--max-waiting`.',
  },
  'idempotency.mismatch': {
    http: 422,
    exitCode: 2,
    retry: false,
    advice: 'The key belongs to another request: use a new key for a new request.',
  },
  'cursor.invalid': {
    http: 400,
    exitCode: 2,
    retry: false,
    advice: 'Use `next` of an earlier answer to the same list.',
  },
  'job.not-finished': {
    http: 409,
    exitCode: 2,
    retry: true,
    advice: 'Wait for the end of the job (`/events`, or `Prefer: wait=N`), or cancel it.',
  },
} as const;
