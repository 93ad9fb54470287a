import { join } from 'node:path';
import { DECISION_CONSUMER } from '../contracts/jobs/decision.ts';
import { DEFAULT_CONSUMER } from '../contracts/jobs/job.ts';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import type { AgentsConfig } from '../contracts/skills/skill.ts';
import type { JobRequest, ResolvedRequest } from '../queue/request/job-request.ts';
import type { JobView } from '../queue/run-queued-job.ts';
import { openSkillLibrary } from '../library/open-skill-library.ts';
import type { SkillLibrary } from '../library/snapshot/skill-library.ts';
import { openTreeCache } from '../library/stores/cache/tree-cache.ts';
import type { Database } from '../registry/database/database.ts';
import { findTeam } from '../registry/kinds/find-team.ts';
import { PUBLIC } from '../registry/kinds/kind-rows.ts';
import { teamSkills, type TeamSkill } from '../registry/kinds/team-skills.ts';
import { createRegistryStore } from '../registry/skills/registry-store.ts';
import { lastVersion, skillsState } from '../registry/skills/skills-state.ts';
import { folderId } from '../skills/text/slug.ts';
import { RequestRefused } from './http/problem.ts';

/** Libraries that stay open. */
const MOST_OPEN = 64;

/** The skills of one job. */
export interface SkillsOfJob {
  skills: SkillLibrary;
  /** The job needs them no more. */
  release(): void;
}

/** The skills of users, as their jobs load them: public ones as `public.*`, and own ones as `custom.*`. */
export interface UserSkills extends AsyncDisposable {
  /**
   * The skills of a user's job.
   *
   * @param consumer the consumer of the job; of a team, it may load the team's skills only
   * @throws SkillcellError `kind.reference-missing` for a team that was deleted
   */
  take(userId: number, view: JobView, consumer?: string): Promise<SkillsOfJob>;
  /**
   * A job whose team is an id, and whose bare names of skills are full ids: that of an own skill, else that of a public one. In a job of
   * a team, a skill of the team comes first.
   *
   * @throws {RequestRefused} `kind.reference-missing` for a missing team
   */
  resolve(job: JobRequest, userId: number): Promise<ResolvedRequest>;
}

/** An open library, and the number of jobs that use it. */
interface OpenLibrary {
  library: Promise<SkillLibrary>;
  jobs: number;
}

/** @param folder state folder, which holds the cache of unpacked skills */
export function openUserSkills({ db }: Database, folder: string): UserSkills {
  const cacheDir = join(folder, 'skills');
  const cache = openTreeCache(cacheDir);
  /** By the versions in them and the policy, so that none ever changes. The oldest are first. */
  const open = new Map<string, OpenLibrary>();

  const openLibrary = (userId: number, upTo: number, policy: AgentsConfig): Promise<SkillLibrary> => {
    const stores = [
      createRegistryStore({ db, cache, userId: PUBLIC, kind: 'builtin', upTo }),
      createRegistryStore({ db, cache, userId, kind: 'user', upTo }),
    ];
    return openSkillLibrary({ stores, descriptor: { agents_config: policy }, builtinRoot: null, cacheDir });
  };
  const closeOldest = async (): Promise<void> => {
    for (const [key, { library, jobs }] of open) {
      if (open.size <= MOST_OPEN) return;
      if (jobs > 0) continue;
      open.delete(key);
      await (await library).close();
    }
  };
  const skillsOfTeam = async (team: number, userId: number): Promise<TeamSkill[]> =>
    // A job has own and public skills, also that of an admin: a team of another user is missing.
    (await teamSkills(db, team, { userId, role: 'member' })).skills;

  return {
    async take(userId, { team, skillsUpTo }, consumer = DEFAULT_CONSUMER) {
      const policy = team === undefined ? {} : policyOf(await presentSkills(skillsOfTeam(team, userId)), consumer);
      const { last, count } = await skillsState(db, userId, skillsUpTo);
      const key = JSON.stringify([userId, last, count, policy]);
      const opened = open.get(key) ?? { library: openLibrary(userId, last, policy), jobs: 0 };
      open.delete(key);
      open.set(key, opened);
      opened.jobs += 1;
      try {
        const skills = await opened.library;
        await closeOldest();
        return { skills, release: () => void (opened.jobs -= 1) };
      } catch (error) {
        opened.jobs -= 1;
        if (open.get(key) === opened) open.delete(key);
        throw error;
      }
    },
    async resolve(given, userId) {
      const job: ResolvedRequest = { ...given, skillsUpTo: await lastVersion(db) };
      const offered: TeamSkill[] = [];
      if (job.kind === 'codegen' && job.team !== undefined) {
        const team = await findTeam(db, job.team, userId);
        if (team === undefined) throw missingTeam();
        offered.push(...(await skillsOfTeam(team, userId)));
        job.team = team;
        // A dry run asks no model.
        job.select ??= job.dryRun !== true;
      }
      const refs = job.skills?.refs ?? [];
      const named = job.kind === 'script' ? [job.skill, ...refs] : refs;
      const slugs = named.filter(isBare).map((name) => folderId(name).id);
      if (slugs.length === 0) return job;
      const rows = await db
        .selectFrom('kinds')
        .select('slug')
        .where('user_id', '=', userId)
        .where('slug', 'in', slugs)
        .execute();
      const own = new Set(rows.map(({ slug }) => slug));
      const full = (name: string): string => {
        if (!isBare(name)) return name;
        const { id } = folderId(name);
        const ids = offered.map(({ ref }) => ref);
        return ids.find((ref) => ref.endsWith(`.${id}`)) ?? `${own.has(id) ? 'custom' : 'public'}.${id}`;
      };
      const skills = { ...job.skills, refs: refs.map(full) };
      return job.kind === 'script' ? { ...job, skill: full(job.skill), skills } : { ...job, skills };
    },
    async [Symbol.asyncDispose]() {
      for (const { library } of open.values()) await (await library).close();
      cache.close();
    },
  };
}

/** The consumers of a job of a team may ask for the skills of the team only. What these import comes with them. */
function policyOf(skills: readonly TeamSkill[], consumer: string): AgentsConfig {
  const rule = { enabled: skills.map(({ ref }) => ref) };
  return { [DECISION_CONSUMER]: rule, [consumer]: rule };
}

/** @throws SkillcellError `kind.reference-missing` */
async function presentSkills(skills: Promise<TeamSkill[]>): Promise<TeamSkill[]> {
  try {
    return await skills;
  } catch (cause) {
    if (!SkillcellError.isInstance(cause) || cause.code !== 'resource.not-found') throw cause;
    const message = 'Cannot run the job: its team was deleted after the submission.';
    throw new SkillcellError('kind.reference-missing', message, { cause });
  }
}

function missingTeam(): RequestRefused {
  const detail = 'no team of yours and no public one has this name or id';
  return new RequestRefused('kind.reference-missing', `Cannot accept the job: ${detail}.`, [
    { pointer: '/team', detail },
  ]);
}

/** Whether a reference names no namespace. */
function isBare(ref: string): boolean {
  return !/[.@:/]/.test(ref);
}
