import { Button, Group, Stack } from '@mantine/core';
import type { UseMutationResult } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { Referrer } from '../../src/registry/kinds/references.ts';
import { Link } from '../shared/address.tsx';
import { ask } from '../shared/api.ts';
import { useAnswer, useChange } from '../shared/queries.ts';
import { Loaded, Nothing, Problem } from '../shared/view.tsx';
import type { SkillPartProps } from './skills.ts';

/** The ghosts with a skill, their bots, and the teams of these. */
export function ReferencesPart({ id, mayChange }: SkillPartProps): ReactElement {
  const references = useAnswer<Referrer[]>(`/skills/${encodeURIComponent(id)}/references`);
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

/** Takes the skill from one ghost, or from all. */
export function useRemoval(id: string): UseMutationResult<unknown, Error, number | 'all'> {
  return useChange((ghost: number | 'all') =>
    ask(`/skills/${encodeURIComponent(id)}/remove-references${ghost === 'all' ? '' : `/${ghost}`}`, { method: 'POST' }),
  );
}

/** Takes the skill from one ghost. */
export function RemoveButton({ name, onClick }: { name: string; onClick: () => void }): ReactElement {
  return <Button size="compact-sm" aria-label={`Remove from ${name}`} onClick={onClick} children="Remove" />;
}
