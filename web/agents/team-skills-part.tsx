import { List, Stack, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { TeamSkills } from '../../src/registry/kinds/team-skills.ts';
import { Link } from '../shared/address.tsx';
import { ask } from '../shared/api.ts';
import { Loaded, Nothing } from '../shared/view.tsx';

/** The skills that jobs of a team may load, and why they may not load the others. */
export function TeamSkillsPart({ id }: { id: string }): ReactElement {
  const skills = useQuery({
    queryKey: ['agents', 'teams', id, 'skills'],
    queryFn: () => ask<TeamSkills>(`/kinds/teams/${encodeURIComponent(id)}/skills`),
  });
  return (
    <Stack gap="xs">
      <Title order={2} size="h4">
        Skills of its jobs
      </Title>
      <Loaded query={skills}>
        {({ skills: offered, leftOut }) => (
          <>
            {offered.length + leftOut.length === 0 && <Nothing>Its bots have no skills.</Nothing>}
            <List size="sm" className="breaking">
              {offered.map(({ id: skill, ref, bots }) => (
                <List.Item key={skill}>
                  <Link to={`/skills/${skill}`}>{ref}</Link> for {bots.join(', ')}
                </List.Item>
              ))}
              {leftOut.map(({ id: skill, ref, bot, reason }) => (
                <List.Item key={`${skill} ${bot}`}>
                  <Link to={`/skills/${skill}`}>{ref}</Link> not for {bot}: {reason}
                </List.Item>
              ))}
            </List>
          </>
        )}
      </Loaded>
    </Stack>
  );
}
