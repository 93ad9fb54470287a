import { Fieldset, Group, Stack } from '@mantine/core';
import { type ReactElement, useState } from 'react';
import type { KindForm } from '../../src/registry/kinds/kind-object.ts';
import { goTo } from '../shared/address.tsx';
import { apiPath, ask, type Tagged } from '../shared/api.ts';
import { ConfirmButton } from '../shared/confirm.tsx';
import { CheckField, Form, TextField } from '../shared/fields.tsx';
import { useChange } from '../shared/queries.ts';
import { useMe } from '../shared/user.ts';
import { canChange } from '../shared/users.ts';
import { Loaded, View } from '../shared/view.tsx';
import { type AgentPath, kindOf, useAgent } from './agents.ts';
import { BotFields, GhostFields, type Spec, startSpec, TeamFields } from './spec-fields.tsx';
import { TeamSkillsPart } from './team-skills-part.tsx';

const FIELDS = { ghosts: GhostFields, bots: BotFields, teams: TeamFields } as const;

/** The form of a ghost, bot or team; without an id, of a new one. */
export function AgentView({ path, id }: { path: AgentPath; id: string | null }): ReactElement {
  return id === null ? <AgentForm path={path} /> : <PresentAgent path={path} id={id} />;
}

function PresentAgent({ path, id }: { path: AgentPath; id: string }): ReactElement {
  const query = useAgent(path, id);
  return (
    <Loaded isView query={query}>
      {(present) => <AgentForm key={present.etag} path={path} present={present} />}
    </Loaded>
  );
}

interface FormProps {
  path: AgentPath;
  /** The agent to change, and the ETag that the change is based on. */
  present?: Tagged;
}

function AgentForm({ path, present }: FormProps): ReactElement {
  const me = useMe();
  const kind = kindOf(path);
  const { name: givenName = '', namespace: givenNamespace = 'default', labels } = present?.form.metadata ?? {};
  const [name, setName] = useState(givenName);
  const [namespace, setNamespace] = useState(givenNamespace);
  const [spec, setSpec] = useState<Spec>((present?.form.spec as Spec | undefined) ?? startSpec(path));
  const [isPublic, setPublic] = useState(false);
  const mayChange = present === undefined ? !me.readOnly : canChange(me, present.form);
  const place = `/kinds/${path}/${labels?.id ?? ''}`;
  const store = useChange(
    () => {
      const body = { apiVersion: 'skillcell/v1', kind, metadata: { name: name.trim(), namespace }, spec };
      if (present === undefined)
        return ask<KindForm>(apiPath(`/kinds/${path}`, { public: isPublic ? 1 : '' }), { body });
      return ask<KindForm>(place, { method: 'PUT', body, headers: { 'if-match': present.etag } });
    },
    ({ metadata }) => goTo(`/agents/${path}/${metadata.labels.id}`),
  );
  const remove = useChange(
    () => ask(place, { method: 'DELETE' }),
    () => goTo(`/agents/${path}`),
  );
  const Fields = FIELDS[path];
  const isNew = present === undefined;
  const question = `Delete the ${kind.toLowerCase()}?`;
  const fields = (
    <Fieldset variant="unstyled" disabled={!mayChange}>
      <Stack>
        <Group align="start">
          <TextField required label="Name" readOnly={!isNew} value={name} onChange={setName} />
          <TextField required label="Namespace" readOnly={!isNew} value={namespace} onChange={setNamespace} />
        </Group>
        <TextField
          label="Description"
          value={spec.description ?? ''}
          onChange={(description) => setSpec({ ...spec, description })}
        />
        <Fields spec={spec} onChange={setSpec} />
        {isNew && me.role === 'admin' && <CheckField label="For all users" checked={isPublic} onChange={setPublic} />}
      </Stack>
    </Fieldset>
  );
  return (
    <View
      title={isNew ? `New ${kind.toLowerCase()}` : givenName}
      actions={!isNew && mayChange && <ConfirmButton label="Delete" question={question} change={remove} />}
    >
      {mayChange ? <Form change={store} submit={isNew ? 'Create' : 'Store'} children={fields} /> : fields}
      {path === 'teams' && labels !== undefined && <TeamSkillsPart id={labels.id} />}
    </View>
  );
}
