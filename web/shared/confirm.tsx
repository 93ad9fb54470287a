import { Button, type ButtonProps, Group, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactElement, ReactNode } from 'react';
import { Problem } from './view.tsx';

interface DialogProps {
  isOpen: boolean;
  close: () => void;
  title: string;
  question: string;
  /** Between the question and the buttons. */
  children?: ReactNode;
  error: Error | null;
  /** The text of the button that confirms. */
  label: string;
  isPending: boolean;
  confirm: () => void;
}

/** A dialog that asks before a change that cannot be undone, and shows the error if the change is refused. */
export function ConfirmDialog(props: DialogProps): ReactElement {
  const { isOpen, close, title, question, children, error, label, isPending, confirm } = props;
  return (
    <Modal opened={isOpen} onClose={close} title={title} closeButtonProps={{ 'aria-label': 'Close' }}>
      <Stack>
        <Text className="breaking">{question}</Text>
        {children}
        <Problem error={error} />
        <Group justify="flex-end">
          <Button onClick={close} data-autofocus children="Cancel" />
          <Button variant="filled" color="red" loading={isPending} onClick={confirm} children={label} />
        </Group>
      </Stack>
    </Modal>
  );
}

interface ConfirmProps extends ButtonProps {
  label: string;
  question: string;
  change: { mutateAsync: () => Promise<unknown>; isPending: boolean; error: Error | null; reset: () => void };
  /** Of the button, if its label says too little for readers of the screen. */
  name?: string;
}

/** A button for a change, with its dialog. */
export function ConfirmButton({ label, question, change, name, ...button }: ConfirmProps): ReactElement {
  const [isOpen, { open, close }] = useDisclosure();
  const { mutateAsync, isPending, error, reset } = change;
  const ask = (): void => {
    reset();
    open();
  };
  const confirm = (): void => void mutateAsync().then(close, () => undefined);
  return (
    <>
      <Button color="red" variant="outline" {...button} aria-label={name} onClick={ask} children={label} />
      <ConfirmDialog {...{ isOpen, close, title: label, question, error, label, isPending, confirm }} />
    </>
  );
}
