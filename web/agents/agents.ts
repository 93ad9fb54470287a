import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { KindForm } from '../../src/registry/kinds/kind-object.ts';
import { apiPath, ask, askTagged, type Tagged } from '../shared/api.ts';

/** The paths of the three kinds of agents, with their names. */
const KINDS = { ghosts: 'Ghost', bots: 'Bot', teams: 'Team' } as const;
/** Agents of one page of a list. */
export const PAGE = 100;

/** The path of a kind, in the API as in the console. */
export type AgentPath = keyof typeof KINDS;

/** Whether a part of an address is a kind of agents. */
export function isAgentPath(name: string | undefined): name is AgentPath {
  return name !== undefined && Object.hasOwn(KINDS, name);
}

/** The name of a kind. */
export function kindOf(path: AgentPath): (typeof KINDS)[AgentPath] {
  return KINDS[path];
}

/** A part of the agents of a kind, and the number of all. */
export function useAgents(path: AgentPath, skip = 0): UseQueryResult<{ items: KindForm[]; total: number }> {
  return useQuery({
    queryKey: ['agents', path, 'list', skip],
    queryFn: () => ask<{ items: KindForm[]; total: number }>(apiPath(`/kinds/${path}`, { limit: PAGE, skip })),
  });
}

/** An agent with the ETag that a change is based on. */
export function useAgent(path: AgentPath, id: string): UseQueryResult<Tagged> {
  return useQuery({
    queryKey: ['agents', path, id],
    // A form is filled once; a change of someone else is told when it is stored.
    refetchOnWindowFocus: false,
    queryFn: () => askTagged(`/kinds/${path}/${encodeURIComponent(id)}`),
  });
}
