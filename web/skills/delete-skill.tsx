import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type ReactElement, useState } from 'react';
import type { ReferencedProblem } from '../../src/server/schemas/skills.ts';
import { goTo } from '../shared/address.tsx';
import { ApiError, ask } from '../shared/api.ts';
import { useChange } from '../shared/queries.ts';
import { Problem } from '../shared/view.tsx';
import { useRemoval } from './references.ts';

/** Deletes a skill. If ghosts refer to it, the dialog offers to take it from one of them, or from all. */
export function DeleteSkill({ id, name }: { id: string; name: string }): ReactElement {
  const [isOpen, { open, close }] = useDisclosure();
  const remove = useChange(
    () => ask(`/skills/${encodeURIComponent(id)}`, { method: 'DELETE' }),
    () => goTo('/skills'),
  );
  const removal = useRemoval(id);
  const [gone, setGone] = useState<number[]>([]);
  const ghosts = ghostsIn(remove.error).filter((ghost) => !gone.includes(ghost.id));
  const removeFrom = async (ghost: number): Promise<void> => {
    await removal.mutateAsync(ghost);
    setGone([...gone, ghost]);
    // Without ghosts, the dialog asks as at its beginning.
    if (ghosts.length === 1) remove.reset();
  };
  const removeAll = async (): Promise<void> => {
    await removal.mutateAsync('all');
    await remove.mutateAsync();
  };
  const askFirst = (): void => {
    remove.reset();
    removal.reset();
    setGone([]);
    open();
  };
  return (
    <>
      <Button color="red" variant="outline" onClick={askFirst}>
        Delete
      </Button>
      <Modal
        opened={isOpen}
        onClose={close}
        title={ghosts.length === 0 ? `Delete ${name}?` : `${name} is in use`}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <Stack>
          {ghosts.length === 0 ? (
            <>
              <Text>All versions of the skill are deleted.</Text>
              <Problem error={remove.error} />
            </>
          ) : (
            <>
              <Text>Ghosts refer to the skill. It can be deleted when none does.</Text>
              {ghosts.map(({ id: ghost, name: ghostName, namespace }) => (
                <Group key={ghost} justify="space-between" wrap="nowrap">
                  <Text className="breaking">
                    {ghostName} ({namespace})
                  </Text>
                  <Button
                    size="compact-sm"
                    variant="default"
                    aria-label={`Remove from ${ghostName}`}
                    onClick={() => void removeFrom(ghost).catch(() => undefined)}
                  >
                    Remove
                  </Button>
                </Group>
              ))}
            </>
          )}
          <Problem error={removal.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={close} data-autofocus>
              Cancel
            </Button>
            {ghosts.length === 0 ? (
              <Button color="red" loading={remove.isPending} onClick={() => remove.mutate()}>
                Delete
              </Button>
            ) : (
              <Button
                color="red"
                loading={removal.isPending || remove.isPending}
                onClick={() => void removeAll().catch(() => undefined)}
              >
                Remove all and delete
              </Button>
            )}
          </Group>
        </Stack>
      </Modal>
    </>
  );
}

function ghostsIn(error: Error | null): ReferencedProblem['referenced_ghosts'] {
  if (!(error instanceof ApiError)) return [];
  return (error.problem as Partial<ReferencedProblem>).referenced_ghosts ?? [];
}
