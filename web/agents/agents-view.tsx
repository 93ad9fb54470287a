import { Badge, Button, Group, Text } from '@mantine/core';
import { type ReactElement, useState } from 'react';
import type { KindForm } from '../../src/registry/kinds/kind-object.ts';
import { Link } from '../shared/address.tsx';
import { LinkButton } from '../shared/fields.tsx';
import { type Column, Rows } from '../shared/rows.tsx';
import { useMe } from '../shared/user.ts';
import { Loaded, View } from '../shared/view.tsx';
import { type AgentPath, kindOf, PAGE, useAgents } from './agents.ts';

/** The list of ghosts, bots or teams. */
export function AgentsView({ path }: { path: AgentPath }): ReactElement {
  const me = useMe();
  const kind = kindOf(path);
  const [skip, setSkip] = useState(0);
  const agents = useAgents(path, skip);
  const columns: Column<KindForm>[] = [
    { head: 'Name', cell: ({ metadata: { name, labels } }) => <Link to={`/agents/${path}/${labels.id}`}>{name}</Link> },
    {
      head: 'Place',
      cell: ({ metadata: { namespace, labels } }) => <PlaceBadge owner={labels.user_id} namespace={namespace} />,
    },
    {
      head: 'Description',
      wide: true,
      cell: ({ spec }) => <Text size="sm" lineClamp={3} children={(spec as { description?: string }).description} />,
    },
  ];
  return (
    <View
      title={`${kind}s`}
      actions={
        !me.readOnly && (
          <LinkButton variant="filled" to={`/agents/${path}/new`}>
            New {kind.toLowerCase()}
          </LinkButton>
        )
      }
    >
      <Loaded query={agents}>
        {({ items, total }) => (
          <>
            <Rows
              items={items}
              idOf={({ metadata }) => metadata.labels.id}
              columns={columns}
              none={`No ${kind.toLowerCase()}s yet.`}
            />
            {total > PAGE && (
              <Group>
                <Button disabled={skip === 0} onClick={() => setSkip(skip - PAGE)} children="Back" />
                <Button disabled={skip + PAGE >= total} onClick={() => setSkip(skip + PAGE)} children="More" />
              </Group>
            )}
          </>
        )}
      </Loaded>
    </View>
  );
}

function PlaceBadge({ owner, namespace }: { owner: string; namespace: string }): ReactElement {
  return <Badge variant="default" children={owner === '0' ? 'public' : namespace} />;
}
