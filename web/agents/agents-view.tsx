import { Badge, Button, Group, Table, Text } from '@mantine/core';
import { type ReactElement, useState } from 'react';
import { Link, linkTo } from '../shared/address.tsx';
import { useMe } from '../shared/user.ts';
import { Loaded, Nothing, View } from '../shared/view.tsx';
import { type AgentPath, kindOf, useAgents } from './agents.ts';

/** The list of ghosts, bots or teams. */
export function AgentsView({ path }: { path: AgentPath }): ReactElement {
  const me = useMe();
  const kind = kindOf(path);
  const [skip, setSkip] = useState(0);
  const agents = useAgents(path, skip);
  return (
    <View
      title={`${kind}s`}
      actions={
        !me.readOnly && (
          <Button component="a" {...linkTo(`/agents/${path}/new`)}>
            New {kind.toLowerCase()}
          </Button>
        )
      }
    >
      <Loaded query={agents}>
        {({ items, total }) => (
          <>
            {total === 0 && <Nothing>No {kind.toLowerCase()}s yet.</Nothing>}
            {items.length > 0 && (
              <Table>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>Name</Table.Th>
                    <Table.Th>Description</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {items.map(({ metadata: { name, namespace, labels }, spec }) => (
                    <Table.Tr key={labels.id}>
                      <Table.Td className="breaking">
                        <Link to={`/agents/${path}/${labels.id}`}>{name}</Link>
                        <Group gap={4}>
                          <Badge size="sm" variant="default">
                            {labels.user_id === '0' ? 'public' : namespace}
                          </Badge>
                        </Group>
                      </Table.Td>
                      <Table.Td className="breaking">
                        <Text size="sm" lineClamp={3}>
                          {(spec as { description?: string }).description ?? ''}
                        </Text>
                      </Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            )}
            {(skip > 0 || skip + items.length < total) && (
              <Group>
                <Button variant="default" disabled={skip === 0} onClick={() => setSkip(Math.max(0, skip - 100))}>
                  Back
                </Button>
                <Button variant="default" disabled={skip + items.length >= total} onClick={() => setSkip(skip + 100)}>
                  More
                </Button>
              </Group>
            )}
          </>
        )}
      </Loaded>
    </View>
  );
}
