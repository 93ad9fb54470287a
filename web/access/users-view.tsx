import { Button, Group, NativeSelect, Stack, Table, TextInput } from '@mantine/core';
import { type ReactElement, useState } from 'react';
import type { User } from '../../src/registry/users/users.ts';
import { ask } from '../shared/api.ts';
import { timeText } from '../shared/format.ts';
import { useChange } from '../shared/queries.ts';
import { Loaded, Problem, View } from '../shared/view.tsx';
import { ShownToken } from './tokens-view.tsx';
import { useUsers } from './users.ts';

const ROLES = ['member', 'viewer', 'admin'] as const;

/** All users, for admins. */
export function UsersView(): ReactElement {
  const users = useUsers();
  const change = useChange(({ id, ...fields }: { id: number; role?: User['role']; disabled?: boolean }) =>
    ask(`/users/${id}`, { method: 'PATCH', body: fields }),
  );
  return (
    <View title="Users">
      <NewUser />
      <Problem error={change.error} />
      <Loaded query={users}>
        {(all) => (
          <Table.ScrollContainer minWidth={0}>
            <Table>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Name</Table.Th>
                  <Table.Th>Role</Table.Th>
                  <Table.Th visibleFrom="sm">Created</Table.Th>
                  <Table.Th />
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {all.map(({ id, name, role, disabled, createdAt }) => (
                  <Table.Tr key={id}>
                    <Table.Td className="breaking">
                      {name}
                      {disabled && ' (disabled)'}
                    </Table.Td>
                    <Table.Td>
                      <NativeSelect
                        size="xs"
                        aria-label={`Role of ${name}`}
                        data={[...ROLES]}
                        value={role}
                        onChange={(event) => change.mutate({ id, role: event.currentTarget.value as User['role'] })}
                      />
                    </Table.Td>
                    <Table.Td visibleFrom="sm">{timeText(createdAt)}</Table.Td>
                    <Table.Td>
                      <Button
                        size="compact-sm"
                        variant="default"
                        aria-label={`${disabled ? 'Enable' : 'Disable'} ${name}`}
                        onClick={() => change.mutate({ id, disabled: !disabled })}
                      >
                        {disabled ? 'Enable' : 'Disable'}
                      </Button>
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Table.ScrollContainer>
        )}
      </Loaded>
    </View>
  );
}

function NewUser(): ReactElement {
  const [name, setName] = useState('');
  const [role, setRole] = useState<string>('member');
  const create = useChange(
    () => ask<{ token: { token: string } }>('/users', { body: { name: name.trim(), role } }),
    () => setName(''),
  );
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        create.mutate();
      }}
    >
      <Stack>
        <Group align="end">
          <TextInput required label="Name" value={name} onChange={(event) => setName(event.currentTarget.value)} />
          <NativeSelect
            label="Role"
            data={[...ROLES]}
            value={role}
            onChange={(event) => setRole(event.currentTarget.value)}
          />
          <Button type="submit" loading={create.isPending}>
            Create
          </Button>
        </Group>
        <Problem error={create.error} />
        {create.data !== undefined && <ShownToken token={create.data.token.token} />}
      </Stack>
    </form>
  );
}
