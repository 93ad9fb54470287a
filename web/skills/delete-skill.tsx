import { Button, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type ReactElement, useState } from 'react';
import type { ReferencedProblem } from '../../src/server/schemas/skills.ts';
import { goTo } from '../shared/address.tsx';
import { ApiError, ask } from '../shared/api.ts';
import { ConfirmDialog } from '../shared/confirm.tsx';
import { useChange } from '../shared/queries.ts';
import { RemoveButton, useRemoval } from './references-part.tsx';

/** Deletes a skill. If ghosts refer to it, the dialog offers to take it from one of them, or from all. */
export function DeleteSkill({ id, name }: { id: string; name: string }): ReactElement {
  const [isOpen, { open, close }] = useDisclosure();
  const remove = useChange(
    () => ask(`/skills/${id}`, { method: 'DELETE' }),
    () => goTo('/skills'),
  );
  const removal = useRemoval(id);
  const [gone, setGone] = useState<number[]>([]);
  const ghosts = ghostsIn(remove.error).filter((ghost) => !gone.includes(ghost.id));
  const isUsed = ghosts.length > 0;
  const removeFrom = async (ghost: number): Promise<void> => {
    await removal.mutateAsync(ghost);
    setGone([...gone, ghost]);
    // Without ghosts, the dialog asks as at its beginning.
    if (ghosts.length === 1) remove.reset();
  };
  const removeAll = async (): Promise<void> => {
    if (isUsed) await removal.mutateAsync('all');
    await remove.mutateAsync();
  };
  /** The dialog shows the error of a change. */
  const start = (change: Promise<void>): void => void change.catch(() => undefined);
  const askFirst = (): void => {
    remove.reset();
    removal.reset();
    setGone([]);
    open();
  };
  return (
    <>
      <Button color="red" variant="outline" onClick={askFirst} children="Delete" />
      <ConfirmDialog
        isOpen={isOpen}
        close={close}
        title={isUsed ? `${name} is in use` : `Delete ${name}?`}
        question={isUsed ? 'Ghosts refer to the skill. It can be deleted when none does.' : 'All versions are deleted.'}
        error={removal.error ?? (isUsed ? null : remove.error)}
        label={isUsed ? 'Remove all and delete' : 'Delete'}
        isPending={remove.isPending}
        confirm={() => start(removeAll())}
      >
        {ghosts.map((ghost) => (
          <Group key={ghost.id} justify="space-between" wrap="nowrap">
            <Text className="breaking">{ghost.name}</Text>
            <RemoveButton name={ghost.name} onClick={() => start(removeFrom(ghost.id))} />
          </Group>
        ))}
      </ConfirmDialog>
    </>
  );
}

function ghostsIn(error: Error | null): ReferencedProblem['referenced_ghosts'] {
  if (!(error instanceof ApiError)) return [];
  return (error.problem as Partial<ReferencedProblem>).referenced_ghosts ?? [];
}
