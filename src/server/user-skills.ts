import { join } from 'node:path';
import type { JobRequest } from '../queue/request/job-request.ts';
import { openSkillLibrary } from '../library/open-skill-library.ts';
import type { SkillLibrary } from '../library/snapshot/skill-library.ts';
import { openTreeCache } from '../library/stores/cache/tree-cache.ts';
import type { Database } from '../registry/database/database.ts';
import { PUBLIC } from '../registry/kinds/kind-rows.ts';
import { createRegistryStore } from '../registry/skills/registry-store.ts';
import { folderId } from '../skills/text/slug.ts';

/** Libraries of users that stay open. */
const MOST_OPEN = 64;

/** The skills of users, as their jobs load them: public ones as `public.*`, and own ones as `custom.*`. */
export interface UserSkills extends AsyncDisposable {
  /** The present skills of a user. */
  of(userId: number): Promise<SkillLibrary>;
  /** A job whose bare names of skills are full ids: that of an own skill, else that of a public one. */
  withFullIds(job: JobRequest, userId: number): Promise<JobRequest>;
}

/** @param folder state folder, which holds the cache of unpacked skills */
export function openUserSkills({ db }: Database, folder: string): UserSkills {
  const cacheDir = join(folder, 'skills');
  const cache = openTreeCache(cacheDir);
  const open = new Map<number, Promise<SkillLibrary>>();

  const library = (userId: number): Promise<SkillLibrary> => {
    const known = open.get(userId) ?? openSkillLibrary({ stores: storesOf(userId), builtinRoot: null, cacheDir });
    open.delete(userId);
    open.set(userId, known);
    known.catch(() => open.delete(userId));
    return known;
  };
  const storesOf = (userId: number): ReturnType<typeof createRegistryStore>[] => [
    createRegistryStore({ db, cache, userId: PUBLIC, kind: 'builtin' }),
    createRegistryStore({ db, cache, userId, kind: 'user' }),
  ];
  /** Jobs that still use a closed library have their skills already: they got them at their start. */
  const closeOldest = async (): Promise<void> => {
    const [oldest] = open;
    if (oldest === undefined || open.size <= MOST_OPEN) return;
    open.delete(oldest[0]);
    await (await oldest[1]).close();
  };

  return {
    async of(userId) {
      const skills = await library(userId);
      await skills.refresh();
      await closeOldest();
      return skills;
    },
    async withFullIds(job, userId) {
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
        const { id } = folderId(name);
        return isBare(name) ? `${own.has(id) ? 'custom' : 'public'}.${id}` : name;
      };
      const skills = { ...job.skills, refs: refs.map(full) };
      return job.kind === 'script' ? { ...job, skill: full(job.skill), skills } : { ...job, skills };
    },
    async [Symbol.asyncDispose]() {
      for (const each of open.values()) await (await each).close();
      cache.close();
    },
  };
}

/** Whether a reference names no namespace. */
function isBare(ref: string): boolean {
  return !/[.@:/]/.test(ref);
}
