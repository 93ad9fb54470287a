import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { SkillFields } from '../../src/contracts/skills/skill.ts';
import type { KindForm } from '../../src/registry/kinds/kind-object.ts';
import type { SkillScope, SkillVersion } from '../../src/registry/skills/skill-versions.ts';
import type { UnifiedSkill } from '../../src/server/schemas/kinds.ts';
import { apiPath, ask, askTagged, type Tagged } from '../shared/api.ts';

/** Skills of an answer of the list. */
const PAGE = 100;
/** The service has no search for skills, so that the browser reads the list; it stops here. */
export const MOST_LISTED = 2_000;

/** A part of a skill's view. */
export interface SkillPartProps {
  id: string;
  /** ETag of the present version. */
  etag: string;
  /** The present version first. */
  versions: SkillVersion[];
  mayChange: boolean;
}

/** The fields of a skill's SKILL.md. */
export function fieldsOf({ spec }: Pick<KindForm, 'spec'>): SkillFields {
  return spec as SkillFields;
}

/** Own skills, then public ones, then those of others. */
export function useSkills(scope: SkillScope): UseQueryResult<UnifiedSkill[]> {
  return useQuery({
    queryKey: ['skills', 'list', scope],
    queryFn: async () => {
      const all: UnifiedSkill[] = [];
      let part: UnifiedSkill[];
      do {
        part = await ask<UnifiedSkill[]>(apiPath('/skills/unified', { scope, skip: all.length, limit: PAGE }));
        all.push(...part);
      } while (part.length === PAGE && all.length < MOST_LISTED);
      return all;
    },
  });
}

/** A skill with the ETag of its present version. */
export function useSkill(id: string): UseQueryResult<Tagged> {
  return useQuery({ queryKey: ['skills', id], queryFn: () => askTagged(`/skills/${encodeURIComponent(id)}`) });
}

/** All versions of a skill, the present one first. */
export function useVersions(id: string): UseQueryResult<SkillVersion[]> {
  return useQuery({
    queryKey: ['skills', id, 'versions'],
    queryFn: async () => {
      const versions = await ask<SkillVersion[]>(`/skills/${encodeURIComponent(id)}/versions`);
      return versions.toSorted((one, other) => other.version - one.version);
    },
  });
}
