import * as ui from '@mantine/core';
import type { ReactElement, ReactNode } from 'react';
import { linkTo } from './address.tsx';
import { Problem } from './view.tsx';

/** Properties of an input whose `onChange` takes its value. */
type Valued<Props, Value = string> = Omit<Props, 'onChange'> & { onChange: (value: Value) => void };

export function TextField({ onChange, ...rest }: Valued<ui.TextInputProps>): ReactElement {
  return <ui.TextInput {...rest} onChange={(event) => onChange(event.currentTarget.value)} />;
}

export function LongField({ onChange, ...rest }: Valued<ui.TextareaProps>): ReactElement {
  return <ui.Textarea resize="vertical" {...rest} onChange={(event) => onChange(event.currentTarget.value)} />;
}

export function ChoiceField({ onChange, ...rest }: Valued<ui.NativeSelectProps>): ReactElement {
  return <ui.NativeSelect {...rest} onChange={(event) => onChange(event.currentTarget.value)} />;
}

export function CheckField({ onChange, ...rest }: Valued<ui.CheckboxProps, boolean>): ReactElement {
  return <ui.Checkbox {...rest} onChange={(event) => onChange(event.currentTarget.checked)} />;
}

/** A link that looks like a button. */
export function LinkButton({ to, ...rest }: ui.ButtonProps & { to: string; children: ReactNode }): ReactElement {
  return <ui.Button component="a" {...rest} {...linkTo(to)} />;
}

/** A form for one change: its fields, the error of the change, and the button that submits it. */
export function Form(props: {
  change: { mutate: () => void; isPending: boolean; error: Error | null };
  /** The text of the button. */
  submit: string;
  children: ReactNode;
}): ReactElement {
  const { change, submit, children } = props;
  const send = (event: { preventDefault: () => void }): void => {
    event.preventDefault();
    change.mutate();
  };
  return (
    <ui.Stack component="form" maw={900} onSubmit={send}>
      {children}
      <Problem error={change.error} />
      <ui.Group>
        <ui.Button type="submit" variant="filled" loading={change.isPending} children={submit} />
      </ui.Group>
    </ui.Stack>
  );
}
