import { useInfiniteQuery, type UseInfiniteQueryResult, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { SkillFields } from '../../src/contracts/skills/skill.ts';
import type { KindForm } from '../../src/registry/kinds/kind-object.ts';
import type { SkillScope, SkillVersion } from '../../src/registry/skills/skill-versions.ts';
import type { UnifiedSkill } from '../../src/server/schemas/kinds.ts';
import { apiPath, ask, askTagged, type Tagged } from '../shared/api.ts';

/** Skills of an answer of the list, its most. */
const PAGE = 100;

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

/**
 * Own skills, then public ones, then those of others. The service has no search for skills: the list is read part by part, to its end or until
 * `isEnough`.
 */
export function useSkills(
  scope: SkillScope,
  isEnough: (all: UnifiedSkill[]) => boolean = () => false,
): UseInfiniteQueryResult<UnifiedSkill[]> {
  const query = useInfiniteQuery({
    queryKey: ['skills', 'list', scope],
    queryFn: ({ pageParam }) =>
      ask<UnifiedSkill[]>(apiPath('/skills/unified', { scope, skip: pageParam, limit: PAGE })),
    initialPageParam: 0,
    getNextPageParam: (last, _parts, skip) => (last.length < PAGE ? null : skip + PAGE),
    select: allIn,
  });
  const { data, error, hasNextPage, isFetching, fetchNextPage } = query;
  const goesOn = data !== undefined && error === null && hasNextPage && !isFetching && !isEnough(data);
  useEffect(() => {
    if (goesOn) void fetchNextPage();
  }, [goesOn, fetchNextPage]);
  return query;
}

/** The skills of all parts. A skill that a change moved while the list was read can be in two of them. */
function allIn({ pages }: { pages: UnifiedSkill[][] }): UnifiedSkill[] {
  return [...new Map(pages.flat().map((skill) => [skill.metadata.labels.id, skill])).values()];
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
