import { Badge, Group, SegmentedControl, Text } from '@mantine/core';
import type { ReactElement } from 'react';
import type { UnifiedSkill } from '../../src/server/schemas/kinds.ts';
import { Link, useFilters } from '../shared/address.tsx';
import { LinkButton, TextField } from '../shared/fields.tsx';
import { type Column, Rows } from '../shared/rows.tsx';
import { useMe } from '../shared/user.ts';
import { Loaded, Note, View } from '../shared/view.tsx';
import { fieldsOf, MOST_LISTED, type Scope, useSkills } from './skills.ts';

const SCOPES = [
  { value: 'all', label: 'All' },
  { value: 'own', label: 'Mine' },
  { value: 'public', label: 'Public' },
];
const COLUMNS: Column<UnifiedSkill>[] = [
  { head: 'Name', cell: ({ metadata: { name, labels } }) => <Link to={`/skills/${labels.id}`}>{name}</Link> },
  { head: 'Place', cell: ({ metadata, hidden }) => <Badge variant="default" children={placeOf(metadata, hidden)} /> },
  {
    head: 'Description',
    wide: true,
    cell: (skill) => <Text size="sm" lineClamp={3} children={fieldsOf(skill).description} />,
  },
];

/** The list of skills. */
export function SkillsView(): ReactElement {
  const me = useMe();
  const [query, set] = useFilters();
  const scope = (SCOPES.find(({ value }) => value === query.get('scope'))?.value ?? 'all') as Scope;
  const words = (query.get('q') ?? '').toLowerCase().split(/\s+/);
  const skills = useSkills(scope);
  const isFound = (skill: UnifiedSkill): boolean => {
    const text =
      `${skill.metadata.name} ${skill.metadata.namespace} ${fieldsOf(skill).description ?? ''}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  return (
    <View
      title="Skills"
      actions={!me.readOnly && <LinkButton variant="filled" to="/skills/upload" children="Upload" />}
    >
      <Group gap="xs">
        <SegmentedControl data={SCOPES} value={scope} onChange={(value) => set('scope', value)} aria-label="Scope" />
        <TextField
          placeholder="Search"
          aria-label="Search"
          value={query.get('q') ?? ''}
          onChange={(text) => set('q', text)}
        />
      </Group>
      <Loaded query={skills}>
        {(all) => (
          <>
            <Rows
              items={all.filter(isFound)}
              idOf={({ metadata }) => metadata.labels.id}
              columns={COLUMNS}
              none="No skills."
            />
            {all.length >= MOST_LISTED && <Note>The first {all.length} skills are searched.</Note>}
          </>
        )}
      </Loaded>
    </View>
  );
}

function placeOf({ labels, namespace }: UnifiedSkill['metadata'], isHidden: boolean): string {
  if (labels.user_id !== '0') return namespace;
  return isHidden ? 'public, hidden by yours' : 'public';
}
