import { Button, Group, Stack } from '@mantine/core';
import type { ReactElement } from 'react';
import { Link } from '../shared/address.tsx';
import { Loaded, Nothing, Problem } from '../shared/view.tsx';
import { useReferences, useRemoval } from './references.ts';
import type { SkillPartProps } from './skills.ts';

/** Ghosts, bots and teams that have the skill. */
export function ReferencesPart({ id, mayChange }: SkillPartProps): ReactElement {
  const references = useReferences(id);
  const removal = useRemoval(id);
  return (
    <Stack gap="xs">
      <Problem error={removal.error} />
      <Loaded query={references}>
        {(all) => (
          <>
            {all.length === 0 && <Nothing>No ghost has this skill.</Nothing>}
            {all.map(({ id: other, kind, name }) => (
              <Group key={other} gap="xs">
                <span className="breaking">
                  {kind} <Link to={`/agents/${kind.toLowerCase()}s/${other}`}>{name}</Link>
                </span>
                {mayChange && kind === 'Ghost' && <RemoveButton name={name} onClick={() => removal.mutate(other)} />}
              </Group>
            ))}
          </>
        )}
      </Loaded>
    </Stack>
  );
}

/** Takes the skill from one ghost. */
export function RemoveButton({ name, onClick }: { name: string; onClick: () => void }): ReactElement {
  return <Button size="compact-sm" aria-label={`Remove from ${name}`} onClick={onClick} children="Remove" />;
}
