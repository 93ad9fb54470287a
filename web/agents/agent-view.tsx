import { Button, Checkbox, Fieldset, Group, Stack, TextInput } from '@mantine/core';
import { type ReactElement, useState } from 'react';
import type { KindForm } from '../../src/registry/kinds/kind-object.ts';
import { goTo } from '../shared/address.tsx';
import { apiPath, ask } from '../shared/api.ts';
import { ConfirmButton } from '../shared/confirm.tsx';
import { useChange } from '../shared/queries.ts';
import { useMe } from '../shared/user.ts';
import { Loaded, Problem, View } from '../shared/view.tsx';
import { type AgentPath, kindOf, useAgent } from './agents.ts';
import { BotFields, GhostFields, type Spec, startSpec, TeamFields } from './spec-fields.tsx';
import { TeamSkillsPart } from './team-skills-part.tsx';

const FIELDS = { ghosts: GhostFields, bots: BotFields, teams: TeamFields } as const;

/** The form of a ghost, bot or team; without an id, of a new one. */
export function AgentView({ path, id }: { path: AgentPath; id: string | null }): ReactElement {
  return id === null ? <AgentForm path={path} id={null} /> : <PresentAgent path={path} id={id} />;
}

function PresentAgent({ path, id }: { path: AgentPath; id: string }): ReactElement {
  const query = useAgent(path, id);
  return (
    <Loaded query={query}>
      {({ agent, etag }) => <AgentForm key={etag} path={path} id={id} agent={agent} etag={etag} />}
    </Loaded>
  );
}

interface FormProps {
  path: AgentPath;
  id: string | null;
  agent?: KindForm;
  etag?: string;
}

function AgentForm({ path, id, agent, etag = '' }: FormProps): ReactElement {
  const me = useMe();
  const kind = kindOf(path);
  const [name, setName] = useState(agent?.metadata.name ?? '');
  const [namespace, setNamespace] = useState(agent?.metadata.namespace ?? 'default');
  const [spec, setSpec] = useState<Spec>((agent?.spec as Spec | undefined) ?? startSpec(path));
  const [isPublic, setPublic] = useState(false);
  const owner = agent?.metadata.labels.user_id ?? String(me.id);
  const mayChange = !me.readOnly && (owner === String(me.id) || (owner === '0' && me.role === 'admin'));
  const store = useChange(
    () => {
      const body = { apiVersion: 'skillcell/v1', kind, metadata: { name: name.trim(), namespace }, spec };
      if (id === null) return ask<KindForm>(apiPath(`/kinds/${path}`, { public: isPublic ? 1 : '' }), { body });
      const headers = { 'if-match': etag };
      return ask<KindForm>(`/kinds/${path}/${encodeURIComponent(id)}`, { method: 'PUT', body, headers });
    },
    ({ metadata }) => goTo(`/agents/${path}/${metadata.labels.id}`),
  );
  const remove = useChange(
    () => ask(`/kinds/${path}/${encodeURIComponent(id ?? '')}`, { method: 'DELETE' }),
    () => goTo(`/agents/${path}`),
  );
  const Fields = FIELDS[path];
  return (
    <View
      title={id === null ? `New ${kind.toLowerCase()}` : (agent?.metadata.name ?? '')}
      actions={
        id !== null &&
        mayChange && <ConfirmButton label="Delete" question={`Delete the ${kind.toLowerCase()}?`} change={remove} />
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          store.mutate();
        }}
      >
        <Fieldset variant="unstyled" maw={800} disabled={!mayChange}>
          <Stack>
            <Group align="start">
              <TextInput
                required
                label="Name"
                readOnly={id !== null}
                value={name}
                onChange={(event) => setName(event.currentTarget.value)}
              />
              <TextInput
                required
                label="Namespace"
                readOnly={id !== null}
                value={namespace}
                onChange={(event) => setNamespace(event.currentTarget.value)}
              />
            </Group>
            <TextInput
              label="Description"
              value={spec.description ?? ''}
              onChange={(event) => setSpec({ ...spec, description: event.currentTarget.value })}
            />
            <Fields spec={spec} onChange={setSpec} />
            {id === null && me.role === 'admin' && (
              <Checkbox
                label="For all users"
                checked={isPublic}
                onChange={(event) => setPublic(event.currentTarget.checked)}
              />
            )}
            <Problem error={store.error} />
            {mayChange && (
              <Group>
                <Button type="submit" loading={store.isPending}>
                  {id === null ? 'Create' : 'Store'}
                </Button>
              </Group>
            )}
          </Stack>
        </Fieldset>
      </form>
      {path === 'teams' && id !== null && <TeamSkillsPart id={id} />}
    </View>
  );
}
