import { Alert, Button, Code, CopyButton, Group } from '@mantine/core';
import { type ReactElement, useState } from 'react';
import type { TokenInfo } from '../../src/registry/users/tokens.ts';
import { ask } from '../shared/api.ts';
import { ConfirmButton } from '../shared/confirm.tsx';
import { CheckField, ChoiceField, Form, TextField } from '../shared/fields.tsx';
import { timeText } from '../shared/format.ts';
import { useAnswer, useChange } from '../shared/queries.ts';
import { Rows } from '../shared/rows.tsx';
import { useMe } from '../shared/user.ts';
import { Loaded, View } from '../shared/view.tsx';

const DAY_MS: number = 24 * 60 * 60 * 1_000;
const ENDS = [
  { value: '', label: 'never' },
  { value: '30', label: 'in 30 days' },
  { value: '365', label: 'in a year' },
];

/** Own tokens, for programs and for other browsers. */
export function TokensView(): ReactElement {
  const { readOnly } = useMe();
  const tokens = useAnswer<TokenInfo[]>('/tokens');
  const columns = [
    { head: 'Name', cell: (token: TokenInfo) => `${token.name}${token.readOnly ? ' (reads only)' : ''}` },
    { head: 'Created', wide: true, cell: ({ createdAt }: TokenInfo) => timeText(createdAt) },
    { head: 'Expires', cell: ({ expiresAt }: TokenInfo) => (expiresAt === null ? 'never' : timeText(expiresAt)) },
    { head: 'Change', cell: (token: TokenInfo) => !readOnly && <DeleteToken token={token} /> },
  ];
  return (
    <View title="Tokens">
      {!readOnly && <NewToken />}
      <Loaded query={tokens}>
        {(all) => <Rows items={all} idOf={({ id }) => id} columns={columns} none="No tokens." />}
      </Loaded>
    </View>
  );
}

function NewToken(): ReactElement {
  const [name, setName] = useState('');
  const [readOnly, setReadOnly] = useState(false);
  const [days, setDays] = useState('');
  const expiry = (): object => (days === '' ? {} : { expiresAt: Date.now() + Number(days) * DAY_MS });
  const create = useChange(
    () => ask<{ token: string }>('/tokens', { body: { name: name.trim(), readOnly, ...expiry() } }),
    () => setName(''),
  );
  return (
    <Form change={create} submit="Create">
      <Group align="end">
        <TextField required label="Name" value={name} onChange={setName} />
        <ChoiceField label="Expires" data={ENDS} value={days} onChange={setDays} />
        <CheckField label="Reads only" checked={readOnly} onChange={setReadOnly} />
      </Group>
      {create.data !== undefined && <ShownToken token={create.data.token} />}
    </Form>
  );
}

/** A token, once. */
export function ShownToken({ token }: { token: string }): ReactElement {
  return (
    <Alert variant="outline" color="green" title="The token is shown once. Copy it now." role="status">
      <Group>
        <Code className="breaking">{token}</Code>
        <CopyButton value={token}>
          {({ copied, copy }) => <Button size="compact-sm" onClick={copy} children={copied ? 'Copied' : 'Copy'} />}
        </CopyButton>
      </Group>
    </Alert>
  );
}

function DeleteToken({ token: { id, name } }: { token: TokenInfo }): ReactElement {
  const change = useChange(() => ask(`/tokens/${id}`, { method: 'DELETE' }));
  const question = `Programs with the token ${name}, and sessions from it, lose their access.`;
  return <ConfirmButton label="Delete" name={`Delete ${name}`} question={question} change={change} size="compact-sm" />;
}
