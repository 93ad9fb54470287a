import { Alert, Group, List, Loader, Stack, Text, Title } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactElement, ReactNode } from 'react';
import { useTitle } from './address.tsx';
import { ApiError } from './api.ts';

/** A view: its title, buttons beside it, and its contents. */
export function View(props: { title: string; actions?: ReactNode; children: ReactNode }): ReactElement {
  const { title, actions, children } = props;
  useTitle(title);
  return (
    <Stack gap="md">
      <Group justify="space-between" wrap="wrap" gap="xs">
        <Title order={1} size="h2" className="breaking">
          {title}
        </Title>
        <Group gap="xs">{actions}</Group>
      </Group>
      {children}
    </Stack>
  );
}

/** An error with its advice and its places; nothing without one. */
export function Problem({ error }: { error: Error | null | undefined }): ReactElement | null {
  if (error === null || error === undefined) return null;
  const { hint, code, errors = [] } = error instanceof ApiError ? error.problem : {};
  return (
    <Alert color="red" variant="outline" title={error.message} role="alert" className="breaking">
      <Stack gap={4}>
        {errors.length > 1 && (
          <List size="sm">
            {errors.map(({ pointer, detail }) => (
              <List.Item key={`${pointer} ${detail}`} children={`${pointer} ${detail}`} />
            ))}
          </List>
        )}
        {hint !== undefined && <Text size="sm">{hint}</Text>}
        {code !== undefined && <Text size="xs" c="dimmed" children={code} />}
      </Stack>
    </Alert>
  );
}

/** An error in place of a view. */
export function FailedView({ error, children }: { error: Error; children?: ReactNode }): ReactElement {
  return (
    <View title="Cannot show this view">
      <Problem error={error} />
      {children}
    </View>
  );
}

/** Shows the answer of a query, or its error, or that it is awaited. */
export function Loaded<Data>(props: {
  query: Pick<UseQueryResult<Data>, 'data' | 'error'>;
  /** Whether the answer is a view of its own, and no part of one. */
  isView?: boolean;
  children: (data: Data) => ReactNode;
}): ReactElement {
  const { query, isView = false, children } = props;
  if (query.data !== undefined) return <>{children(query.data)}</>;
  if (query.error === null) return <Loader aria-label="loading" />;
  return isView ? <FailedView error={query.error} /> : <Problem error={query.error} />;
}

/** A line in place of an empty list. */
export function Nothing({ children }: { children: ReactNode }): ReactElement {
  return <Text c="dimmed">{children}</Text>;
}

/** A part of a view, with its heading. */
export function Part({ title, children }: { title: string; children: ReactNode }): ReactElement {
  return (
    <Stack gap="xs">
      <Title order={2} size="h4" children={title} />
      {children}
    </Stack>
  );
}

/** A line in small and dimmed letters. */
export function Note({ children }: { children: ReactNode }): ReactElement {
  return <Text size="sm" c="dimmed" className="breaking" children={children} />;
}
