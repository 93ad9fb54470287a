import { Button, Group, Stack } from '@mantine/core';
import type { ReactElement } from 'react';
import { Link } from '../shared/address.tsx';
import { Loaded, Nothing, Problem } from '../shared/view.tsx';
import { useReferences, useRemoval } from './references.ts';

/** Ghosts, bots and teams that have the skill. */
export function ReferencesPart({ id, mayChange }: { id: string; mayChange: boolean }): ReactElement {
  const references = useReferences(id);
  const removal = useRemoval(id);
  return (
    <Loaded query={references}>
      {(all) => (
        <Stack gap="xs">
          {all.length === 0 && <Nothing>No ghost has this skill.</Nothing>}
          <Problem error={removal.error} />
          {all.map(({ id: other, kind, name, namespace }) => (
            <Group key={other} gap="xs">
              <span className="breaking">
                {kind} <Link to={`/agents/${kind.toLowerCase()}s/${other}`}>{name}</Link> ({namespace})
              </span>
              {mayChange && kind === 'Ghost' && (
                <Button
                  size="compact-sm"
                  variant="default"
                  aria-label={`Remove from ${name}`}
                  onClick={() => removal.mutate(other)}
                >
                  Remove
                </Button>
              )}
            </Group>
          ))}
        </Stack>
      )}
    </Loaded>
  );
}
