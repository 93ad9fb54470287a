import {
  Alert,
  Button,
  Checkbox,
  Code,
  CopyButton,
  Group,
  NativeSelect,
  Stack,
  Table,
  Text,
  TextInput,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import type { TokenInfo } from '../../src/registry/users/tokens.ts';
import { ask } from '../shared/api.ts';
import { ConfirmButton } from '../shared/confirm.tsx';
import { timeText } from '../shared/format.ts';
import { useChange } from '../shared/queries.ts';
import { useMe } from '../shared/user.ts';
import { Loaded, Nothing, Problem, View } from '../shared/view.tsx';

const DAY_MS: number = 24 * 60 * 60 * 1_000;
const ENDS = [
  { value: '', label: 'never' },
  { value: '30', label: 'in 30 days' },
  { value: '365', label: 'in a year' },
];

/** Own tokens, for programs and for other browsers. */
export function TokensView(): ReactElement {
  const me = useMe();
  const tokens = useQuery({ queryKey: ['tokens'], queryFn: () => ask<TokenInfo[]>('/tokens') });
  return (
    <View title="Tokens">
      {!me.readOnly && <NewToken />}
      <Loaded query={tokens}>
        {(all) =>
          all.length === 0 ? (
            <Nothing>No tokens.</Nothing>
          ) : (
            <Table.ScrollContainer minWidth={0}>
              <Table>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>Name</Table.Th>
                    <Table.Th visibleFrom="sm">Created</Table.Th>
                    <Table.Th>Expires</Table.Th>
                    <Table.Th />
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {all.map((token) => (
                    <Table.Tr key={token.id}>
                      <Table.Td className="breaking">
                        {token.name}
                        {token.readOnly && ' (reads only)'}
                      </Table.Td>
                      <Table.Td visibleFrom="sm">{timeText(token.createdAt)}</Table.Td>
                      <Table.Td>{token.expiresAt === null ? 'never' : timeText(token.expiresAt)}</Table.Td>
                      <Table.Td>{!me.readOnly && <DeleteToken token={token} />}</Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </Table.ScrollContainer>
          )
        }
      </Loaded>
    </View>
  );
}

function NewToken(): ReactElement {
  const [name, setName] = useState('');
  const [readOnly, setReadOnly] = useState(false);
  const [days, setDays] = useState('');
  const create = useChange(
    () => {
      const expiry = days === '' ? {} : { expiresAt: Date.now() + Number(days) * DAY_MS };
      return ask<{ token: string }>('/tokens', { body: { name: name.trim(), readOnly, ...expiry } });
    },
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
            label="Expires"
            data={ENDS}
            value={days}
            onChange={(event) => setDays(event.currentTarget.value)}
          />
          <Checkbox
            label="Reads only"
            checked={readOnly}
            onChange={(event) => setReadOnly(event.currentTarget.checked)}
          />
          <Button type="submit" loading={create.isPending}>
            Create
          </Button>
        </Group>
        <Problem error={create.error} />
        {create.data !== undefined && <ShownToken token={create.data.token} />}
      </Stack>
    </form>
  );
}

/** A token, once. */
export function ShownToken({ token }: { token: string }): ReactElement {
  return (
    <Alert variant="outline" color="green" title="The token is shown once. Copy it now." role="status">
      <Group>
        <Code className="breaking">{token}</Code>
        <CopyButton value={token}>
          {({ copied, copy }) => (
            <Button size="compact-sm" variant="default" onClick={copy}>
              {copied ? 'Copied' : 'Copy'}
            </Button>
          )}
        </CopyButton>
      </Group>
    </Alert>
  );
}

function DeleteToken({ token: { id, name } }: { token: TokenInfo }): ReactElement {
  const change = useChange(() => ask(`/tokens/${id}`, { method: 'DELETE' }));
  return (
    <ConfirmButton
      label="Delete"
      name={`Delete ${name}`}
      question={
        <Text className="breaking">Programs with the token {name}, and sessions from it, lose their access.</Text>
      }
      change={change}
      button={{ size: 'compact-sm' }}
    />
  );
}
