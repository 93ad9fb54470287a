import { Button, Group } from '@mantine/core';
import type { ReactElement } from 'react';
import type { BotSpec, GhostSpec, NameReference, TeamSpec } from '../../src/registry/kinds/kind-schemas.ts';
import { ChoiceField, LongField, TextField } from '../shared/fields.tsx';
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
  const all = useSkills('all');
  const { systemPrompt = '', skills = [] } = spec;
  const names = [...new Set(all.data?.map(({ metadata }) => metadata.name))].filter((name) => !skills.includes(name));
  const set = (changed: Spec): void => onChange({ ...spec, ...changed });
  return (
    <>
      <LongField label="System prompt" rows={8} value={systemPrompt} onChange={(text) => set({ systemPrompt: text })} />
      {skills.map((name) => (
        <Group key={name} gap="xs">
          <span className="breaking">{name}</span>
          <Button
            size="compact-sm"
            aria-label={`Remove ${name}`}
            onClick={() => set({ skills: skills.filter((each) => each !== name) })}
            children="Remove"
          />
        </Group>
      ))}
      <ChoiceField
        label="Add a skill"
        data={['', ...names]}
        value=""
        onChange={(name) => set({ skills: [...skills, name] })}
      />
    </>
  );
}

/** A ghost, a shell and a model. */
export function BotFields({ spec, onChange }: FieldsProps): ReactElement {
  const { ghostRef = { name: '' }, shell, model } = spec;
  const set = (changed: Spec): void => onChange({ ...spec, ...changed });
  return (
    <>
      <ReferenceField label="Ghost" path="ghosts" value={ghostRef} onChange={(ref) => set({ ghostRef: ref })} />
      <TextField label="Shell" value={shell ?? ''} onChange={(text) => set({ shell: text || undefined })} />
      <TextField label="Model" value={model ?? ''} onChange={(text) => set({ model: text || undefined })} />
    </>
  );
}

/** The bots of a team, with their roles. */
export function TeamFields({ spec, onChange }: FieldsProps): ReactElement {
  const { members = [] } = spec;
  const set = (next: TeamSpec['members']): void => onChange({ ...spec, members: next });
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
            onChange={(botRef) => set(members.with(index, { ...member, botRef }))}
          />
          <TextField
            label={`Role of bot ${index + 1}`}
            value={member.role ?? ''}
            onChange={(text) => set(members.with(index, { ...member, role: text || undefined }))}
          />
          <Button
            aria-label={`Remove bot ${index + 1}`}
            onClick={() => set(members.toSpliced(index, 1))}
            children="Remove"
          />
        </Group>
      ))}
      <Group>
        <Button onClick={() => set([...members, { botRef: { name: '' } }])} children="Add a bot" />
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
  const listed = agents.data?.items.map(({ metadata: { name, namespace } }) => ({ name, namespace })) ?? [];
  const byText = new Map([value, { name: '' }, ...listed].map((choice) => [textOf(choice), choice]));
  const choose = (text: string): void => onChange(byText.get(text) ?? { name: '' });
  return <ChoiceField required label={label} data={[...byText.keys()]} value={textOf(value)} onChange={choose} />;
}
