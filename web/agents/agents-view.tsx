import { Button, Group } from '@mantine/core';
import { type ReactElement, useState } from 'react';
import { LinkButton } from '../shared/fields.tsx';
import { FormRows } from '../shared/form-rows.tsx';
import { useMe } from '../shared/user.ts';
import { Loaded, View } from '../shared/view.tsx';
import { type AgentPath, kindOf, PAGE, useAgents } from './agents.ts';

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
          <LinkButton variant="filled" to={`/agents/${path}/new`}>
            New {kind.toLowerCase()}
          </LinkButton>
        )
      }
    >
      <Loaded query={agents}>
        {({ items, total }) => (
          <>
            <FormRows items={items} base={`/agents/${path}`} none={`No ${kind.toLowerCase()}s yet.`} />
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
