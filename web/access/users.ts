import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { User } from '../../src/registry/users/users.ts';
import { ask } from '../shared/api.ts';
import { useMe } from '../shared/user.ts';

/** All users; for admins only. */
export function useUsers(): UseQueryResult<User[]> {
  const { role } = useMe();
  return useQuery({ queryKey: ['users'], enabled: role === 'admin', queryFn: () => ask<User[]>('/users') });
}

/** The names of users by their ids. Others than admins see the ids. */
export function useUserNames(): (id: number) => string {
  const users = useUsers();
  return (id) => users.data?.find((user) => user.id === id)?.name ?? String(id);
}
