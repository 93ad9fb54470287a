import { Button, FileButton, Group, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type DragEvent, type ReactElement, useState } from 'react';
import type { UploadAnswer } from '../../src/server/schemas/skills.ts';
import { goTo, useFilters } from '../shared/address.tsx';
import { apiPath, ask, askTagged } from '../shared/api.ts';
import { CheckField, TextField } from '../shared/fields.tsx';
import { useChange } from '../shared/queries.ts';
import { useMe } from '../shared/user.ts';
import { Loaded, Note, Problem, View } from '../shared/view.tsx';
import { useSkill } from './skills.ts';
import { UploadReport } from './upload-report.tsx';

/** Uploads an archive as a new skill. `?of=ID` makes it the next version of a skill. */
export function UploadView(): ReactElement {
  const [query] = useFilters();
  const of = query.get('of');
  return of === null ? <Upload title="Upload a skill" /> : <NextVersion id={of} />;
}

function NextVersion({ id }: { id: string }): ReactElement {
  const base = useSkill(id);
  return (
    <Loaded isView query={base}>
      {({ form }) => <Upload title={`Next version of ${form.metadata.name}`} base={id} />}
    </Loaded>
  );
}

/** A dry run first, and then the upload. The next version is based on the one that the dry run was compared with. */
function Upload({ title, base }: { title: string; base?: string }): ReactElement {
  const me = useMe();
  const [file, setFile] = useState<File | null>(null);
  const [name, setName] = useState('');
  const [isPublic, setPublic] = useState(false);
  const upload = async (given: File, dryRun: boolean, etag: string): Promise<UploadAnswer> => {
    const body = new FormData();
    if (name.trim() !== '') body.set('name', name.trim());
    body.set('file', given);
    const filters = { dryRun: dryRun ? 1 : '' };
    if (base === undefined)
      return await ask(apiPath(isPublic ? '/skills/public' : '/skills/upload', filters), { body });
    return await ask(apiPath(`/skills/${base}`, filters), { method: 'PUT', body, headers: { 'if-match': etag } });
  };
  const check = useMutation({
    mutationFn: async (given: File) => {
      const etag = base === undefined ? '' : (await askTagged(`/skills/${base}`)).etag;
      return { etag, answer: await upload(given, true, etag) };
    },
  });
  const store = useChange(
    () => upload(file as File, false, check.data?.etag ?? ''),
    ({ skill }) => goTo(`/skills/${skill?.metadata.labels.id ?? ''}`),
  );
  const take = (given: File | null): void => {
    if (given === null) return;
    setFile(given);
    store.reset();
    check.mutate(given);
  };
  /** The result of a check holds for the fields that it was made with. */
  const reset = (): void => check.reset();
  return (
    <View title={title}>
      <DropPlace onFile={take} text={file?.name ?? 'Drop the ZIP or tar.gz of a skill here, 10 MiB at most'} />
      {base === undefined && (
        <Group align="end" onChange={reset}>
          <TextField
            label="Name"
            description="Empty: that of the folder in the archive"
            value={name}
            onChange={setName}
          />
          {me.role === 'admin' && <CheckField label="For all users" checked={isPublic} onChange={setPublic} />}
        </Group>
      )}
      <Problem error={check.error ?? store.error} />
      {check.isPending && <Text role="status">The archive is checked …</Text>}
      {check.isSuccess && (
        <>
          <UploadReport answer={check.data.answer} />
          <Note>This was a dry run: nothing is stored yet.</Note>
        </>
      )}
      <Group>
        {file !== null && (!check.isSuccess || store.isError) && (
          <Button loading={check.isPending} onClick={() => take(file)} children="Check again" />
        )}
        {check.isSuccess && (
          <Button variant="filled" loading={store.isPending} onClick={() => store.mutate()} children="Store" />
        )}
      </Group>
    </View>
  );
}

function DropPlace({ onFile, text }: { onFile: (file: File | null) => void; text: string }): ReactElement {
  const [isOver, setOver] = useState(false);
  const over = (event: DragEvent): void => {
    event.preventDefault();
    setOver(true);
  };
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    onFile(event.dataTransfer.files.item(0));
  };
  return (
    <div className={`drop ${isOver ? 'over' : ''}`} onDragOver={over} onDragLeave={() => setOver(false)} onDrop={drop}>
      <Stack align="center" gap="xs">
        <Text className="breaking">{text}</Text>
        <FileButton onChange={onFile} accept=".zip,.gz,.tgz,.skill" inputProps={{ 'aria-label': 'Archive' }}>
          {(props) => <Button {...props}>Choose a file</Button>}
        </FileButton>
      </Stack>
    </div>
  );
}
