import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { KindForm } from '../../src/registry/kinds/kind-object.ts';
import type { User } from '../../src/registry/users/users.ts';
import { ask } from './api.ts';
import { type Me, useMe } from './user.ts';

/** The owner of public objects. */
const PUBLIC = '0';

/** All users; for admins and viewers. */
export function useUsers(): UseQueryResult<User[]> {
  const { role } = useMe();
  return useQuery({ queryKey: ['users'], enabled: role !== 'member', queryFn: () => ask<User[]>('/users') });
}

/** The names of users by their ids. Members see nothing of others. */
export function useUserNames(): (id: number) => string {
  const me = useMe();
  const users = useUsers();
  return (id) => (id === me.id ? me.name : (users.data?.find((user) => user.id === id)?.name ?? `user ${id}`));
}

/** Where an object is: public, in an own namespace, or in the namespace of another user. */
export function usePlaces(): (form: KindForm) => string {
  const me = useMe();
  const nameOf = useUserNames();
  return ({ metadata: { namespace, labels }, status }) => {
    const owner = labels.user_id;
    if (owner === PUBLIC) return status?.readOnly === true ? 'public, of the package' : 'public';
    return owner === String(me.id) ? namespace : `${nameOf(Number(owner))}: ${namespace}`;
  };
}

/** Whether the user may change an object: an own one, and for admins also a public one that is not of the package. */
export function canChange({ id, role, readOnly }: Me, { metadata: { labels }, status }: KindForm): boolean {
  if (readOnly || status?.readOnly === true) return false;
  return labels.user_id === String(id) || (labels.user_id === PUBLIC && role === 'admin');
}
