import { Button, Group } from '@mantine/core';
import { type ReactElement, type ReactNode, useState } from 'react';
import type { User } from '../../src/registry/users/users.ts';
import { ask } from '../shared/api.ts';
import { ChoiceField, Form, TextField } from '../shared/fields.tsx';
import { timeText } from '../shared/format.ts';
import { useChange } from '../shared/queries.ts';
import { type Column, Rows } from '../shared/rows.tsx';
import { useMe } from '../shared/user.ts';
import { useUsers } from '../shared/users.ts';
import { Loaded, Problem, View } from '../shared/view.tsx';
import { ShownToken } from './tokens-view.tsx';

const ROLES = ['member', 'viewer', 'admin'];

/** All users. Viewers read them, admins change them. */
export function UsersView(): ReactElement {
  const { readOnly } = useMe();
  const users = useUsers();
  const change = useChange(({ id, ...fields }: { id: number; role?: string; disabled?: boolean }) =>
    ask(`/users/${id}`, { method: 'PATCH', body: fields }),
  );
  const roleOf = ({ id, name, role }: User): ReactNode => {
    if (readOnly) return role;
    const set = (next: string): void => change.mutate({ id, role: next });
    return <ChoiceField size="xs" aria-label={`Role of ${name}`} data={ROLES} value={role} onChange={set} />;
  };
  const access = ({ id, name, disabled }: User): ReactElement => {
    const word = disabled ? 'Enable' : 'Disable';
    const set = (): void => change.mutate({ id, disabled: !disabled });
    return <Button size="compact-sm" aria-label={`${word} ${name}`} onClick={set} children={word} />;
  };
  const columns: Column<User>[] = [
    { head: 'Name', cell: ({ name, disabled }) => `${name}${disabled ? ' (disabled)' : ''}` },
    { head: 'Role', cell: roleOf },
    { head: 'Created', wide: true, cell: ({ createdAt }) => timeText(createdAt) },
    { head: 'Access', cell: (user) => !readOnly && access(user) },
  ];
  return (
    <View title="Users">
      {!readOnly && <NewUser />}
      <Problem error={change.error} />
      <Loaded query={users}>
        {(all) => <Rows items={all} idOf={({ id }) => id} columns={columns} none="No users." />}
      </Loaded>
    </View>
  );
}

function NewUser(): ReactElement {
  const [name, setName] = useState('');
  const [role, setRole] = useState('member');
  const create = useChange(
    () => ask<{ token: { token: string } }>('/users', { body: { name: name.trim(), role } }),
    () => setName(''),
  );
  return (
    <Form change={create} submit="Create">
      <Group align="end">
        <TextField required label="Name" value={name} onChange={setName} />
        <ChoiceField label="Role" data={ROLES} value={role} onChange={setRole} />
      </Group>
      {create.data !== undefined && <ShownToken token={create.data.token.token} />}
    </Form>
  );
}
