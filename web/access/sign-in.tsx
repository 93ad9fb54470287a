import { Button, Center, Paper, PasswordInput, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { useTitle } from '../shared/address.tsx';
import { ask } from '../shared/api.ts';
import { setSession } from '../shared/queries.ts';
import type { Me } from '../shared/user.ts';
import { Problem } from '../shared/view.tsx';

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
        <form
          onSubmit={(event) => {
            event.preventDefault();
            signIn.mutate();
          }}
        >
          <Stack>
            <Title order={1} size="h3">
              skillcell
            </Title>
            <PasswordInput
              label="Token"
              description="A token of yours. That of the first admin is in the file admin-token of the state folder."
              placeholder="skc_…"
              required
              autoFocus
              autoComplete="current-password"
              visibilityToggleButtonProps={{ 'aria-label': 'Show the token' }}
              value={token}
              onChange={(event) => setToken(event.currentTarget.value)}
            />
            <Problem error={signIn.error} />
            <Button type="submit" loading={signIn.isPending}>
              Sign in
            </Button>
            <Text size="xs" c="dimmed">
              The browser keeps a cookie for 12 hours, and not the token.
            </Text>
          </Stack>
        </form>
      </Paper>
    </Center>
  );
}
