import { Button, type ButtonProps, Group, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactElement } from 'react';
import { Problem } from './view.tsx';

interface ConfirmProps extends ButtonProps {
  label: string;
  question: string;
  change: { mutateAsync: () => Promise<unknown>; isPending: boolean; error: Error | null; reset: () => void };
  /** Of the button, if its label says too little for readers of the screen. */
  name?: string;
}

/** A button for a change that cannot be undone: a dialog asks first, and stays open with the error if the change is refused. */
export function ConfirmButton({ label, question, change, name, ...button }: ConfirmProps): ReactElement {
  const [isOpen, { open, close }] = useDisclosure();
  const confirm = (): void => void change.mutateAsync().then(close, () => undefined);
  const ask = (): void => {
    change.reset();
    open();
  };
  return (
    <>
      <Button color="red" variant="outline" {...button} aria-label={name} onClick={ask} children={label} />
      <Modal opened={isOpen} onClose={close} title={label} closeButtonProps={{ 'aria-label': 'Close' }}>
        <Stack>
          <Text className="breaking">{question}</Text>
          <Problem error={change.error} />
          <Group justify="flex-end">
            <Button onClick={close} data-autofocus children="Cancel" />
            <Button variant="filled" color="red" loading={change.isPending} onClick={confirm} children={label} />
          </Group>
        </Stack>
      </Modal>
    </>
  );
}
