import { Button, FileButton, Group, SimpleGrid } from '@mantine/core';
import { type ReactElement, type ReactNode, useState } from 'react';
import type { Job } from '../../src/server/schemas/jobs.ts';
import { goTo, useFilters } from '../shared/address.tsx';
import { ApiError, ask } from '../shared/api.ts';
import { ChoiceField, Form, LongField, TextField } from '../shared/fields.tsx';
import { useChange } from '../shared/queries.ts';
import { Loaded, Note, View } from '../shared/view.tsx';
import { EMPTY_FIELDS, type FieldName, fieldsFrom, type JobFields, jobOf } from './job-fields.ts';
import { requestOf, useJob } from './jobs.ts';

const KINDS = [
  { value: 'exec', label: 'exec: run a program' },
  { value: 'codegen', label: 'codegen: have a program written' },
  { value: 'script', label: 'script: run a script of a skill' },
];
const LANGUAGES = ['javascript', 'typescript', 'python', 'bash'];
/** Places in the job of the fields whose names differ. */
const POINTERS: Partial<Record<FieldName, string>> = {
  ...{ seconds: '/limits/runTimeoutMs', memory: '/limits/memoryMib', npm: '/packages/npm', pypi: '/packages/pypi' },
};
const CODE_FONT = { input: { fontFamily: 'var(--mantine-font-family-monospace)' } };

/** The form of a new job. `?from=ID` fills it from another job. */
export function NewJobView(): ReactElement {
  const [query] = useFilters();
  const from = query.get('from');
  return <View title="New job" children={from === null ? <JobForm start={EMPTY_FIELDS} /> : <FromJob id={from} />} />;
}

function FromJob({ id }: { id: string }): ReactElement {
  const job = useJob(id);
  return <Loaded query={job}>{(loaded) => <JobForm start={fieldsFrom(requestOf(loaded))} />}</Loaded>;
}

function JobForm({ start }: { start: JobFields }): ReactElement {
  const [fields, setFields] = useState(start);
  const [files, setFiles] = useState<File[]>([]);
  const submit = useSubmission(fields, files);
  const { kind, lost } = fields;
  /** The value of a field, its change, and why the service has refused it. */
  const field = (name: FieldName): { value: string; onChange: (to: string) => void; error: ReactNode } => ({
    value: fields[name],
    onChange: (value) => setFields({ ...fields, [name]: value }),
    error: refusalAt(POINTERS[name] ?? `/${name}`, submit.error),
  });
  return (
    <Form change={submit} submit="Run">
      <Group align="start">
        <ChoiceField label="Kind" data={KINDS} {...field('kind')} />
        {kind !== 'script' && <ChoiceField label="Language" data={LANGUAGES} {...field('language')} />}
        <TextField label="Label" {...field('label')} />
      </Group>
      {kind === 'exec' && (
        <LongField required label="Program" rows={14} spellCheck={false} styles={CODE_FONT} {...field('code')} />
      )}
      {kind === 'codegen' && <LongField required label="Task" rows={6} {...field('task')} />}
      {kind === 'script' && (
        <Group align="end">
          <TextField required label="Skill" {...field('skill')} />
          <TextField required label="Script, a path in the skill" {...field('script')} />
        </Group>
      )}
      <TextField label="Skills" description="Names, with commas between them" {...field('skills')} />
      <LongField label="Arguments" description="One on each line" {...field('args')} />
      <LongField
        label="Variables"
        description="NAME=value, one on each line. The values are not shown again."
        {...field('env')}
      />
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <LongField
          label="Network"
          description="Hosts that the program may reach, one on each line"
          {...field('network')}
        />
        <LongField label="Secrets" description="Names, one on each line" {...field('secrets')} />
        <LongField label="Packages of npm" description="Such as is-odd@3, one on each line" {...field('npm')} />
        <LongField label="Packages of Python" description="Such as tinypkg==1.0, one on each line" {...field('pypi')} />
      </SimpleGrid>
      <Group align="end">
        <TextField type="number" label="Time limit in seconds" min={1} {...field('seconds')} />
        <TextField type="number" label="Memory limit in MiB" min={1} {...field('memory')} />
        <FileButton multiple onChange={setFiles} inputProps={{ 'aria-label': 'Input files' }}>
          {(props) => <Button {...props}>Choose input files</Button>}
        </FileButton>
      </Group>
      {files.length > 0 && <Note>{files.map(({ name }) => name).join(', ')}</Note>}
      {lost.length > 0 && <Note>To be given again: {lost.join(', ')}</Note>}
    </Form>
  );
}

/** The refusals of the service for a place in the job. */
function refusalAt(pointer: string, error: Error | null): ReactNode {
  const { errors = [] } = error instanceof ApiError ? error.problem : {};
  const here = errors.filter((place) => `${place.pointer}/`.startsWith(`${pointer}/`));
  return here.map(({ detail }) => detail).join(' ');
}

/** Submits a form only once, also if an answer is lost and the button is pressed again: the same form has the same key. */
function useSubmission(fields: JobFields, files: File[]): ReturnType<typeof useChange<void, Job>> {
  const [last, setLast] = useState({ key: '', form: '' });
  return useChange<void, Job>(
    async () => {
      const job = jobOf(fields);
      const form = JSON.stringify([job, files.map(({ name, size, lastModified }) => [name, size, lastModified])]);
      const key = form === last.form ? last.key : crypto.randomUUID();
      setLast({ key, form });
      const headers = { 'idempotency-key': key };
      if (files.length === 0) return await ask('/jobs', { body: job, headers });
      const body = new FormData();
      body.set('job', JSON.stringify(job));
      for (const file of files) body.set(`files/${file.name}`, file);
      return await ask('/jobs', { body, headers });
    },
    ({ id }) => goTo(`/jobs/${id}`),
  );
}
