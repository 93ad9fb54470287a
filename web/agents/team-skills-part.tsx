import { List } from '@mantine/core';
import type { ReactElement } from 'react';
import type { TeamSkills } from '../../src/registry/kinds/team-skills.ts';
import { Link } from '../shared/address.tsx';
import { useAnswer } from '../shared/queries.ts';
import { Loaded, Nothing, Part } from '../shared/view.tsx';

/** The skills that jobs of a team may load, and why they may not load the others. */
export function TeamSkillsPart({ id }: { id: string }): ReactElement {
  const skills = useAnswer<TeamSkills>(`/kinds/teams/${id}/skills`);
  const rowsOf = ({ skills: offered, leftOut }: TeamSkills): { id: number; ref: string; text: string }[] => [
    ...offered.map((skill) => ({ id: skill.id, ref: skill.ref, text: `for ${skill.bots.join(', ')}` })),
    ...leftOut.map((skill) => ({ id: skill.id, ref: skill.ref, text: `not for ${skill.bot}: ${skill.reason}` })),
  ];
  return (
    <Part title="Skills of its jobs">
      <Loaded query={skills}>
        {(loaded) => {
          const rows = rowsOf(loaded);
          if (rows.length === 0) return <Nothing>Its bots have no skills.</Nothing>;
          return (
            <List size="sm" className="breaking">
              {rows.map((row) => (
                <List.Item key={`${row.id} ${row.text}`}>
                  <Link to={`/skills/${row.id}`}>{row.ref}</Link> {row.text}
                </List.Item>
              ))}
            </List>
          );
        }}
      </Loaded>
    </Part>
  );
}
