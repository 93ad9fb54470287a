import { Center, Paper, PasswordInput, Title } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { useTitle } from '../shared/address.tsx';
import { ask } from '../shared/api.ts';
import { Form } from '../shared/fields.tsx';
import { setSession } from '../shared/queries.ts';
import type { Me } from '../shared/user.ts';
import { Note } from '../shared/view.tsx';

/** Trades a token for the cookie of a session. */
export function SignIn(): ReactElement {
  const [token, setToken] = useState('');
  const client = useQueryClient();
  useTitle('Sign in');
  const signIn = useMutation({
    mutationFn: () => ask<Me>('/session', { method: 'POST', headers: { authorization: `Bearer ${token.trim()}` } }),
    onSuccess: (me) => setSession(client, me),
  });
  return (
    <Center component="main" mih="100dvh" p="md">
      <Paper withBorder p="lg" w="100%" maw={420}>
        <Title order={1} size="h3" mb="md" children="skillcell" />
        <Form change={signIn} submit="Sign in">
          <PasswordInput
            {...{ label: 'Token', placeholder: 'skc_…', required: true, autoFocus: true, value: token }}
            description="A token of yours. That of the first admin is in the file admin-token of the state folder."
            autoComplete="current-password"
            visibilityToggleButtonProps={{ 'aria-label': 'Show the token' }}
            onChange={(event) => setToken(event.currentTarget.value)}
          />
          <Note>The browser keeps a cookie for 12 hours, and not the token.</Note>
        </Form>
      </Paper>
    </Center>
  );
}
