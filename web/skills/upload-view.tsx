import { Alert, Button, Checkbox, FileButton, Group, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type DragEvent, type ReactElement, useState } from 'react';
import type { UploadAnswer } from '../../src/server/schemas/skills.ts';
import { goTo, useFilters } from '../shared/address.tsx';
import { apiPath, ask } from '../shared/api.ts';
import { useChange } from '../shared/queries.ts';
import { useMe } from '../shared/user.ts';
import { Problem, View } from '../shared/view.tsx';
import { UploadReport } from './upload-report.tsx';
import { useSkill } from './skills.ts';

/** Uploads an archive: a dry run first, then the upload. `?of=ID` makes it the next version of a skill. */
export function UploadView(): ReactElement {
  const me = useMe();
  const [query] = useFilters();
  const of = query.get('of');
  const base = useSkill(of ?? '0');
  const [file, setFile] = useState<File | null>(null);
  const [name, setName] = useState('');
  const [isPublic, setPublic] = useState(false);
  const upload = async (given: File, dryRun: boolean): Promise<UploadAnswer> => {
    const form = new FormData();
    if (name.trim() !== '') form.set('name', name.trim());
    form.set('file', given);
    const filters = dryRun ? { dryRun: 1 } : {};
    if (of === null) {
      return await ask(apiPath(isPublic ? '/skills/public' : '/skills/upload', filters), {
        method: 'POST',
        body: form,
      });
    }
    const headers = { 'if-match': base.data?.etag ?? '' };
    return await ask(apiPath(`/skills/${encodeURIComponent(of)}`, filters), { method: 'PUT', body: form, headers });
  };
  const check = useMutation({ mutationFn: (given: File) => upload(given, true) });
  const store = useChange(
    () => upload(file as File, false),
    ({ skill }) => goTo(`/skills/${skill?.metadata.labels.id ?? ''}`),
  );
  const take = (given: File | null | undefined): void => {
    if (given === null || given === undefined) return;
    setFile(given);
    store.reset();
    check.mutate(given);
  };
  const changed = (change: () => void): void => {
    change();
    check.reset();
  };
  return (
    <View title={of === null ? 'Upload a skill' : `Next version of ${base.data?.skill.metadata.name ?? ''}`}>
      {of !== null && <Problem error={base.error} />}
      <DropPlace onFile={take} file={file} />
      {of === null && (
        <Group align="end">
          <TextInput
            label="Name"
            description="Empty: that of the folder in the archive"
            value={name}
            onChange={(event) => changed(() => setName(event.currentTarget.value))}
          />
          {me.role === 'admin' && (
            <Checkbox
              label="For all users"
              checked={isPublic}
              onChange={(event) => changed(() => setPublic(event.currentTarget.checked))}
            />
          )}
        </Group>
      )}
      <Problem error={check.error ?? store.error} />
      {check.isPending && <Text role="status">The archive is checked …</Text>}
      {check.data !== undefined && <UploadReport answer={check.data} />}
      <Group>
        {file !== null && check.data === undefined && !check.isPending && (
          <Button variant="default" onClick={() => take(file)}>
            Check again
          </Button>
        )}
        {check.data !== undefined && (
          <Button loading={store.isPending} onClick={() => store.mutate()}>
            {of === null ? 'Upload' : 'Store as the next version'}
          </Button>
        )}
      </Group>
      {check.data !== undefined && (
        <Alert variant="outline" color="gray">
          This was a dry run: nothing is stored yet.
        </Alert>
      )}
    </View>
  );
}

function DropPlace({
  onFile,
  file,
}: {
  onFile: (file: File | null | undefined) => void;
  file: File | null;
}): ReactElement {
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
        <Text className="breaking">
          {file === null ? 'Drop the ZIP or tar.gz of a skill here, 10 MiB at most' : file.name}
        </Text>
        <FileButton onChange={onFile} accept=".zip,.gz,.tgz,.skill" inputProps={{ 'aria-label': 'Archive' }}>
          {(props) => (
            <Button variant="default" {...props}>
              Choose a file
            </Button>
          )}
        </FileButton>
      </Stack>
    </div>
  );
}
