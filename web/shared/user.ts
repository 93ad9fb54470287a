import { useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { ask, ApiError } from './api.ts';
import { ME } from './queries.ts';

/** The user of this browser. */
export interface Me {
  id: number;
  name: string;
  role: 'admin' | 'member' | 'viewer';
  /** Whether the user, or the token of the session, changes nothing. */
  readOnly: boolean;
}

/** The user; null without a session. */
export function useSession(): UseQueryResult<Me | null> {
  return useQuery({
    queryKey: ME,
    staleTime: 60_000,
    queryFn: async () => {
      try {
        return await ask<Me>('/me');
      } catch (error) {
        if (error instanceof ApiError && error.status === 401) return null;
        throw error;
      }
    },
  });
}

/** The user of a view behind the sign-in. */
export function useMe(): Me {
  const me = useQueryClient().getQueryData<Me>(ME);
  if (me === undefined || me === null) return { id: 0, name: '', role: 'viewer', readOnly: true };
  return me;
}
