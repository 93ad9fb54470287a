import type { UseMutationResult, UseQueryResult } from '@tanstack/react-query';
import type { Referrer } from '../../src/registry/kinds/references.ts';
import { ask } from '../shared/api.ts';
import { useAnswer, useChange } from '../shared/queries.ts';

/** The ghosts with a skill, their bots, and the teams of these. */
export function useReferences(id: string): UseQueryResult<Referrer[]> {
  return useAnswer(`/skills/${encodeURIComponent(id)}/references`);
}

/** Takes the skill from one ghost, or from all. */
export function useRemoval(id: string): UseMutationResult<unknown, Error, number | 'all'> {
  return useChange((ghost: number | 'all') =>
    ask(`/skills/${encodeURIComponent(id)}/remove-references${ghost === 'all' ? '' : `/${ghost}`}`, { method: 'POST' }),
  );
}
