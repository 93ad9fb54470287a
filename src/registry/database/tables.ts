import type { Generated } from 'kysely';

/** A user. Times are milliseconds since 1970, switches 0 or 1, in every table. */
export interface UserRow {
  id: Generated<number>;
  name: string;
  role: 'admin' | 'member' | 'viewer';
  disabled: number;
  created_at: number;
}

/** A token of a user. A session of the console is a token in a cookie; it ends with the token that it was traded for. */
export interface TokenRow {
  id: Generated<number>;
  user_id: number;
  name: string;
  /** SHA-256 of the token, in hex. */
  hash: string;
  read_only: number;
  /** The token that a session was traded for; null for a token. */
  parent_id: number | null;
  created_at: number;
  expires_at: number | null;
}

/** A skill, ghost, bot or team. */
export interface KindRow {
  id: Generated<number>;
  /** 0 for a public one. */
  user_id: number;
  kind: 'Skill' | 'Ghost' | 'Bot' | 'Team';
  namespace: string;
  name: string;
  /** The slug of a skill; null for the other kinds. */
  slug: string | null;
  /** `spec` as JSON. */
  json: string;
  /** Number of the last change. It is the present version of a skill. */
  revision: number;
  /** 1 for a skill of the package. */
  read_only: number;
  /** Of the present version of a skill, so that no list reads archives; null for the other kinds. */
  file_size: number | null;
  file_hash: string | null;
  digest: string | null;
  created_at: number;
  updated_at: number;
}

/** A reference from a ghost, bot or team. The database refuses to delete its target. */
export interface KindReferenceRow {
  from_id: number;
  to_id: number;
}

/** A version of a skill: the uploaded archive. */
export interface SkillBinaryRow {
  id: Generated<number>;
  kind_id: number;
  version: number;
  /** `spec` of the skill at this version, as JSON. */
  json: string;
  /** The files with their digests, as JSON. */
  files: string;
  /** The body of the skill, ready for a prompt. */
  prompt: string;
  file_size: number;
  /** SHA-256 of the archive, in hex. */
  file_hash: string;
  /** Digest of the skill's files. */
  digest: string;
  created_at: number;
  binary_data: Uint8Array;
}

/** A job. The bodies are last, so that a list of jobs does not read them. */
export interface JobRow {
  /** Order of acceptance. */
  seq: Generated<number>;
  id: string;
  user_id: number;
  kind: 'exec' | 'codegen' | 'script';
  state: 'waiting' | 'running' | 'finished';
  outcome: string | null;
  /** Code of the failure, if the job has no result of its own. */
  error_code: string | null;
  label: string | null;
  attempt: number;
  /** The tool of the running attempt that may have changed something. The job is not started again. */
  changed_by: string | null;
  /** Why a user has canceled the running job. */
  cancel_reason: string | null;
  /** The replica that runs the job, or did last; null for a service without replicas. */
  owner: string | null;
  rerun_of: string | null;
  idempotency_key: string | null;
  /** SHA-256 of the request, in hex: the same key with another request is refused. */
  request_hash: string;
  created_at: number;
  started_at: number | null;
  finished_at: number | null;
  /** The request as JSON, with the values of `env`. */
  request: string;
  /** The JobResult as JSON. */
  result: string | null;
}

/** A replica of a service: one of several processes that share the database. */
export interface ReplicaRow {
  id: string;
  /** Where the other replicas reach it. */
  url: string;
  /** When it was last seen, by the clock of the database. */
  seen_at: number;
}

/** All tables. */
export interface Tables {
  users: UserRow;
  tokens: TokenRow;
  kinds: KindRow;
  kind_references: KindReferenceRow;
  skill_binaries: SkillBinaryRow;
  jobs: JobRow;
  replicas: ReplicaRow;
  /** Words of jobs, for their search, by `seq` of the job. */
  job_words: { rowid: number; words: string };
}
