import { Button, FileButton, Group, NativeSelect, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { type ReactElement, useState } from 'react';
import type { Job } from '../../src/server/schemas/jobs.ts';
import { goTo, useFilters } from '../shared/address.tsx';
import { ask } from '../shared/api.ts';
import { useChange } from '../shared/queries.ts';
import { Loaded, Problem, View } from '../shared/view.tsx';
import { emptyFields, fieldsFrom, type JobFields, jobOf } from './job-fields.ts';
import { requestOf, useJob } from './jobs.ts';

/** The form of a new job. `?from=ID` fills it from another job. */
export function NewJobView(): ReactElement {
  const [query] = useFilters();
  const from = query.get('from');
  return from === null ? <JobForm start={emptyFields()} /> : <FromJob id={from} />;
}

function FromJob({ id }: { id: string }): ReactElement {
  const job = useJob(id);
  return <Loaded query={job}>{(loaded) => <JobForm start={fieldsFrom(requestOf(loaded))} />}</Loaded>;
}

/** Submits the same form only once, also when the answer is lost and the button is pressed again. */
interface Submission {
  key: string;
  body: string;
}

function JobForm({ start }: { start: JobFields }): ReactElement {
  const [fields, setFields] = useState(start);
  const [files, setFiles] = useState<File[]>([]);
  const [last, setLast] = useState<Submission>({ key: '', body: '' });
  const set = (changed: Partial<JobFields>): void => setFields({ ...fields, ...changed });
  const submit = useChange(
    async () => {
      const job = jobOf(fields);
      const body = JSON.stringify([job, files.map(({ name, size, lastModified }) => [name, size, lastModified])]);
      const key = body === last.body ? last.key : crypto.randomUUID();
      setLast({ key, body });
      const headers = { 'idempotency-key': key };
      if (files.length === 0) return await ask<Job>('/jobs', { body: job, headers });
      const form = new FormData();
      form.set('job', JSON.stringify(job));
      for (const file of files) form.set(`files/${file.name}`, file);
      return await ask<Job>('/jobs', { body: form, headers });
    },
    ({ id }) => goTo(`/jobs/${id}`),
  );
  const { kind } = fields;
  return (
    <View title="New job">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          submit.mutate();
        }}
      >
        <Stack maw={900}>
          <Group align="start">
            <NativeSelect
              label="Kind"
              data={[
                { value: 'exec', label: 'exec: run a program' },
                { value: 'codegen', label: 'codegen: have one written' },
                { value: 'script', label: 'script: of a skill' },
              ]}
              value={kind}
              onChange={(event) => set({ kind: event.currentTarget.value as JobFields['kind'] })}
            />
            {kind !== 'script' && (
              <NativeSelect
                label="Language"
                data={['javascript', 'typescript', 'python', 'bash']}
                value={fields.language}
                onChange={(event) => set({ language: event.currentTarget.value })}
              />
            )}
            <TextInput
              label="Label"
              value={fields.label}
              onChange={(event) => set({ label: event.currentTarget.value })}
            />
          </Group>
          {kind === 'exec' && (
            <LongText label="Program" isCode value={fields.code} onChange={(code) => set({ code })} />
          )}
          {kind === 'codegen' && <LongText label="Task" value={fields.task} onChange={(task) => set({ task })} />}
          {kind === 'script' && (
            <Group align="start">
              <TextInput
                required
                label="Skill"
                value={fields.skill}
                onChange={(event) => set({ skill: event.currentTarget.value })}
              />
              <TextInput
                required
                label="Script"
                description="A path in the skill"
                value={fields.script}
                onChange={(event) => set({ script: event.currentTarget.value })}
              />
            </Group>
          )}
          <TextInput
            label="Skills"
            description="Names, with commas between them"
            value={fields.skills}
            onChange={(event) => set({ skills: event.currentTarget.value })}
          />
          <Textarea
            label="Arguments"
            description="One on each line"
            autosize={false}
            value={fields.args}
            onChange={(event) => set({ args: event.currentTarget.value })}
          />
          <Textarea
            label="Variables"
            description="NAME=value, one on each line. The values are not shown again."
            value={fields.env}
            onChange={(event) => set({ env: event.currentTarget.value })}
          />
          <Group align="end">
            <TextInput
              type="number"
              label="Time limit in seconds"
              min={1}
              value={fields.seconds}
              onChange={(event) => set({ seconds: event.currentTarget.value })}
            />
            <TextInput
              type="number"
              label="Memory limit in MiB"
              min={1}
              value={fields.memory}
              onChange={(event) => set({ memory: event.currentTarget.value })}
            />
            <FileButton multiple onChange={setFiles} inputProps={{ 'aria-label': 'Input files' }}>
              {(props) => (
                <Button variant="default" {...props}>
                  Choose input files
                </Button>
              )}
            </FileButton>
          </Group>
          {files.length > 0 && <Text className="breaking">{files.map(({ name }) => name).join(', ')}</Text>}
          {fields.lost.length > 0 && (
            <Text size="sm" className="breaking">
              To be given again: {fields.lost.join(', ')}
            </Text>
          )}
          <Problem error={submit.error} />
          <Group>
            <Button type="submit" loading={submit.isPending}>
              Run
            </Button>
          </Group>
        </Stack>
      </form>
    </View>
  );
}

function LongText(props: {
  label: string;
  isCode?: boolean;
  value: string;
  onChange: (text: string) => void;
}): ReactElement {
  const { label, isCode = false, value, onChange } = props;
  return (
    <Textarea
      required
      label={label}
      rows={14}
      resize="vertical"
      spellCheck={!isCode}
      styles={isCode ? { input: { fontFamily: 'var(--mantine-font-family-monospace)' } } : {}}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
