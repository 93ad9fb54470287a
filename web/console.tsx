import { AppShell, Burger, Button, Center, Group, Loader, NavLink, Text, useMantineColorScheme } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactElement, useEffect } from 'react';
import { SignIn } from './access/sign-in.tsx';
import { linkTo, useAddress } from './shared/address.tsx';
import { send } from './shared/api.ts';
import { ChoiceField } from './shared/fields.tsx';
import { setSession } from './shared/queries.ts';
import { type Me, useSession } from './shared/user.ts';
import { Problem } from './shared/view.tsx';
import { CurrentView } from './views.tsx';

/** The console: the sign-in without a session, else the menu and the view of the address. */
export function Console(): ReactElement {
  const session = useSession();
  if (session.data === null) return <SignIn />;
  if (session.data !== undefined) return <Shell me={session.data} />;
  return (
    <Center component="main" mih="100dvh" p="md">
      {session.error === null ? <Loader aria-label="loading" /> : <Problem error={session.error} />}
    </Center>
  );
}

const MENU = [
  { to: '/jobs', label: 'Jobs' },
  { to: '/skills', label: 'Skills' },
  { to: '/agents/ghosts', label: 'Ghosts' },
  { to: '/agents/bots', label: 'Bots' },
  { to: '/agents/teams', label: 'Teams' },
  { to: '/tokens', label: 'Tokens' },
] as const;
/** For those who read what others have. */
const MENU_OF_READERS = [...MENU, { to: '/users', label: 'Users' }] as const;
const MENUS = { member: MENU, viewer: MENU_OF_READERS, admin: [...MENU_OF_READERS, { to: '/fleet', label: 'Fleet' }] };

function Shell({ me }: { me: Me }): ReactElement {
  const [isOpen, { toggle, close }] = useDisclosure();
  const { parts } = useAddress();
  const place = `/${parts.join('/')}`;
  useEffect(close, [place, close]);
  return (
    <AppShell
      padding="md"
      header={{ height: 52 }}
      navbar={{ width: 180, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
    >
      <AppShell.Header px="md">
        <Group h="100%" justify="space-between" wrap="nowrap">
          <Group gap="xs" wrap="nowrap">
            <Burger
              opened={isOpen}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label="Menu"
              aria-expanded={isOpen}
            />
            <Text fw={700}>skillcell</Text>
          </Group>
          <Account me={me} />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="Views">
        {MENUS[me.role].map(({ to, label }) => {
          const isHere = place.startsWith(to);
          return (
            <NavLink
              key={to}
              label={label}
              active={isHere}
              aria-current={isHere ? 'page' : undefined}
              {...linkTo(to)}
            />
          );
        })}
      </AppShell.Navbar>
      <AppShell.Main>
        {/* The parts of a skill are one view. */}
        <CurrentView key={parts.slice(0, parts[0] === 'skills' ? 2 : 3).join('/')} parts={parts} />
      </AppShell.Main>
    </AppShell>
  );
}

const SCHEMES = [
  { value: 'auto', label: 'System' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
];

function Account({ me }: { me: Me }): ReactElement {
  const client = useQueryClient();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const signOut = async (): Promise<void> => {
    await send('/session', { method: 'DELETE' }).catch(() => undefined);
    setSession(client, null);
  };
  return (
    <Group gap="xs" wrap="nowrap">
      <Text size="sm" c="dimmed" visibleFrom="sm">
        {me.name} ({me.role})
      </Text>
      <ChoiceField
        size="xs"
        aria-label="Colours"
        data={SCHEMES}
        value={colorScheme}
        onChange={(scheme) => setColorScheme(scheme as typeof colorScheme)}
      />
      <Button size="xs" onClick={() => void signOut()}>
        Sign out
      </Button>
    </Group>
  );
}
