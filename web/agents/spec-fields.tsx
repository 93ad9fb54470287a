import { Button, Group, NativeSelect, Textarea, TextInput } from '@mantine/core';
import type { ReactElement } from 'react';
import type { BotSpec, GhostSpec, NameReference, TeamSpec } from '../../src/registry/kinds/kind-schemas.ts';
import { listOf } from '../shared/format.ts';
import { useSkills } from '../skills/skills.ts';
import { type AgentPath, useAgents } from './agents.ts';

/** The spec of any kind; each form has the fields of its own. */
export type Spec = Partial<GhostSpec & BotSpec & TeamSpec>;

interface FieldsProps {
  spec: Spec;
  onChange: (spec: Spec) => void;
}

/** The spec of a new agent. */
export function startSpec(path: AgentPath): Spec {
  return { ghosts: { skills: [] }, bots: { ghostRef: { name: '' } }, teams: { members: [] } }[path];
}

/** A system prompt, and names of skills. */
export function GhostFields({ spec, onChange }: FieldsProps): ReactElement {
  const skills = useSkills('all');
  const names = spec.skills ?? [];
  const others = [...new Set(skills.data?.map(({ metadata }) => metadata.name))].filter(
    (name) => !names.includes(name),
  );
  return (
    <>
      <Textarea
        label="System prompt"
        rows={8}
        value={spec.systemPrompt ?? ''}
        onChange={(event) => onChange({ ...spec, systemPrompt: event.currentTarget.value })}
      />
      <Textarea
        label="Skills"
        description="Names, one on each line"
        rows={4}
        value={names.join('\n')}
        onChange={(event) => onChange({ ...spec, skills: event.currentTarget.value.split('\n') })}
        onBlur={() => onChange({ ...spec, skills: listOf(names.join('\n')) })}
      />
      <NativeSelect
        label="Add a skill"
        data={['', ...others]}
        value=""
        onChange={(event) =>
          onChange({ ...spec, skills: [...names.filter(Boolean), event.currentTarget.value].filter(Boolean) })
        }
      />
    </>
  );
}

/** A ghost, a shell and a model. */
export function BotFields({ spec, onChange }: FieldsProps): ReactElement {
  return (
    <>
      <ReferenceField
        label="Ghost"
        path="ghosts"
        value={spec.ghostRef ?? { name: '' }}
        onChange={(ghostRef) => onChange({ ...spec, ghostRef })}
      />
      <TextInput
        label="Shell"
        value={spec.shell ?? ''}
        onChange={(event) => onChange({ ...spec, shell: event.currentTarget.value || undefined })}
      />
      <TextInput
        label="Model"
        value={spec.model ?? ''}
        onChange={(event) => onChange({ ...spec, model: event.currentTarget.value || undefined })}
      />
    </>
  );
}

/** The bots of a team, with their roles. */
export function TeamFields({ spec, onChange }: FieldsProps): ReactElement {
  const members = spec.members ?? [];
  const change = (index: number, member: TeamSpec['members'][number]): void =>
    onChange({ ...spec, members: members.with(index, member) });
  return (
    <>
      {members.map((member, index) => (
        // Members have no ids, and a bot may be a member twice.
        // oxlint-disable-next-line react/no-array-index-key
        <Group key={index} align="end">
          <ReferenceField
            label={`Bot ${index + 1}`}
            path="bots"
            value={member.botRef}
            onChange={(botRef) => change(index, { ...member, botRef })}
          />
          <TextInput
            label={`Role of bot ${index + 1}`}
            value={member.role ?? ''}
            onChange={(event) => change(index, { ...member, role: event.currentTarget.value || undefined })}
          />
          <Button
            variant="default"
            aria-label={`Remove bot ${index + 1}`}
            onClick={() => onChange({ ...spec, members: members.toSpliced(index, 1) })}
          >
            Remove
          </Button>
        </Group>
      ))}
      <Group>
        <Button
          variant="default"
          onClick={() => onChange({ ...spec, members: [...members, { botRef: { name: '' } }] })}
        >
          Add a bot
        </Button>
      </Group>
    </>
  );
}

/** A choice of the agents of a kind. A reference that is not among the first ones stays. */
function ReferenceField(props: {
  label: string;
  path: AgentPath;
  value: NameReference;
  onChange: (reference: NameReference) => void;
}): ReactElement {
  const { label, path, value, onChange } = props;
  const agents = useAgents(path);
  const textOf = ({ name, namespace }: NameReference): string =>
    namespace === undefined ? name : `${namespace}/${name}`;
  const choices = [
    value,
    { name: '' },
    ...(agents.data?.items.map(({ metadata: { name, namespace } }) => ({ name, namespace })) ?? []),
  ];
  const byText = new Map(choices.map((choice) => [textOf(choice), choice]));
  return (
    <NativeSelect
      required
      label={label}
      data={[...byText.keys()]}
      value={textOf(value)}
      onChange={(event) => onChange(byText.get(event.currentTarget.value) ?? { name: '' })}
    />
  );
}
