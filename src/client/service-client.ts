import type { CodegenOptions, ExecOptions, ScriptOptions } from '../contracts/jobs/job.ts';
import type { JobResult } from '../contracts/jobs/result.ts';
import type { JobStream } from '../jobs/orchestrator.ts';

/** Options of {@link connectService}. */
export interface ConnectServiceOptions {
  /** Address of the service, such as `https://skillcell.example.com`. */
  url: string;
  /** Token of a user. */
  token: string;
  /** Makes the requests. @default `fetch` of Node */
  fetch?: typeof globalThis.fetch;
  /**
   * Milliseconds of lost connections and of answers 502, 503 and 504 after which a call fails. Before the first answer of the service,
   * it is 5,000 ms at most. @default 60,000 ms
   */
  retryMs?: number;
}

/** A field of jobs at the service. */
export interface ServiceJobLabel {
  /** A name for people, which lists can be filtered by. */
  label?: string;
}

/** A field of codegen jobs at the service. */
export interface ServiceJobTeam {
  /**
   * A team: its id, its name, or `namespace/name`. The job has the skills of the team, a model chooses among them first (`select`), and its
   * program may load further ones by `load_skill`.
   */
  team?: number | string;
}

/** A job for the service. */
export type ServiceJob =
  | ({ kind: 'exec' } & ExecOptions & ServiceJobLabel)
  | ({ kind: 'codegen' } & CodegenOptions & ServiceJobLabel & ServiceJobTeam)
  | ({ kind: 'script' } & ScriptOptions & ServiceJobLabel);

/**
 * Jobs at a service, with the methods of an orchestrator. Files are read on this machine, and `output` is a folder of it. Fields that
 * only a process can have, such as `context`, are refused with `options.invalid`.
 */
export interface ServiceClient extends AsyncDisposable {
  /**
   * Runs code.
   *
   * @throws SkillcellError as the orchestrator, with the code of a refusal by the service, and `service.unavailable`
   */
  exec(options: ExecOptions & ServiceJobLabel): Promise<JobResult>;
  /** Asks the model of the service for code and runs it. @throws SkillcellError as `exec` */
  codegen(options: CodegenOptions & ServiceJobLabel & ServiceJobTeam): Promise<JobResult>;
  /** Runs a script of a skill of the service. @throws SkillcellError as `exec` */
  script(options: ScriptOptions & ServiceJobLabel): Promise<JobResult>;
  /**
   * Starts a job and streams its events. The service gives the job its id: `jobId` is empty until the first event. Artifacts are in
   * `output` when the event `finished` comes.
   */
  stream(job: ServiceJob): JobStream;
  /** Ends a waiting or running job of the user. @returns false if there is no such job, or it has ended */
  cancel(jobId: string, reason?: string): Promise<boolean>;
  /** Reads an artifact of a job of the user. @throws SkillcellError `file.unreadable`, `options.invalid` for another encoding */
  readArtifact(result: Pick<JobResult, 'jobId'>, path: string): Promise<Buffer>;
  readArtifact(result: Pick<JobResult, 'jobId'>, path: string, encoding: 'utf8'): Promise<string>;
  /** The prompt of a skill: own before public, or of a team. @throws SkillcellError `resource.not-found` */
  invokeSkill(name: string, options?: { team?: number | string; signal?: AbortSignal }): Promise<string>;
  /** Cancels the waiting and running jobs of this client. Idempotent. */
  close(): Promise<void>;
}
