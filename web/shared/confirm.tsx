import { Button, type ButtonProps, Group, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactElement, ReactNode } from 'react';
import { Problem } from './view.tsx';

/** A button for a change that cannot be undone: a dialog asks first, and stays open with the error if the change is refused. */
export function ConfirmButton(props: {
  label: string;
  question: ReactNode;
  change: { mutateAsync: () => Promise<unknown>; isPending: boolean; error: Error | null; reset: () => void };
  button?: ButtonProps;
  /** Of the button, if its label says too little for readers of the screen. */
  name?: string;
}): ReactElement {
  const { label, question, change, button, name } = props;
  const [isOpen, { open, close }] = useDisclosure();
  const confirm = (): void => {
    change.mutateAsync().then(close, () => undefined);
  };
  const ask = (): void => {
    change.reset();
    open();
  };
  return (
    <>
      <Button color="red" variant="outline" {...button} aria-label={name} onClick={ask}>
        {label}
      </Button>
      <Modal opened={isOpen} onClose={close} title={label} closeButtonProps={{ 'aria-label': 'Close' }}>
        <Stack>
          <Text component="div">{question}</Text>
          <Problem error={change.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={close} data-autofocus>
              Cancel
            </Button>
            <Button color="red" loading={change.isPending} onClick={confirm}>
              {label}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}
