import { Badge, Button, Group, SegmentedControl, Table, Text, TextInput } from '@mantine/core';
import type { ReactElement } from 'react';
import { Link, linkTo, useFilters } from '../shared/address.tsx';
import { useMe } from '../shared/user.ts';
import { Loaded, Nothing, View } from '../shared/view.tsx';
import { fieldsOf, MOST_LISTED, type Scope, useSkills } from './skills.ts';

const SCOPES = [
  { value: 'all', label: 'All' },
  { value: 'own', label: 'Mine' },
  { value: 'public', label: 'Public' },
];

/** The list of skills. */
export function SkillsView(): ReactElement {
  const me = useMe();
  const [query, set] = useFilters();
  const scope = (SCOPES.find(({ value }) => value === query.get('scope'))?.value ?? 'all') as Scope;
  const words = (query.get('q') ?? '').toLowerCase().split(/\s+/);
  const skills = useSkills(scope);
  return (
    <View
      title="Skills"
      actions={
        !me.readOnly && (
          <Button component="a" {...linkTo('/skills/upload')}>
            Upload
          </Button>
        )
      }
    >
      <Group gap="xs">
        <SegmentedControl data={SCOPES} value={scope} onChange={(value) => set('scope', value)} aria-label="Scope" />
        <TextInput
          placeholder="Search"
          aria-label="Search"
          value={query.get('q') ?? ''}
          onChange={(event) => set('q', event.currentTarget.value)}
        />
      </Group>
      <Loaded query={skills}>
        {(all) => {
          const found = all.filter(({ metadata, spec }) => {
            const text = `${metadata.name} ${metadata.namespace} ${fieldsOf({ spec }).description ?? ''}`.toLowerCase();
            return words.every((word) => text.includes(word));
          });
          if (found.length === 0)
            return <Nothing>{all.length === 0 ? 'No skills yet.' : 'No skill has these words.'}</Nothing>;
          return (
            <>
              <Table.ScrollContainer minWidth={0}>
                <Table>
                  <Table.Thead>
                    <Table.Tr>
                      <Table.Th>Name</Table.Th>
                      <Table.Th>Description</Table.Th>
                    </Table.Tr>
                  </Table.Thead>
                  <Table.Tbody>
                    {found.map((skill) => (
                      <Table.Tr key={skill.metadata.labels.id}>
                        <Table.Td className="breaking">
                          <Link to={`/skills/${skill.metadata.labels.id}`}>{skill.metadata.name}</Link>
                          <Group gap={4}>
                            {skill.metadata.labels.user_id === '0' && (
                              <Badge variant="default" size="sm">
                                public
                              </Badge>
                            )}
                            {skill.hidden && (
                              <Badge variant="default" size="sm" title="A skill of yours has the same name">
                                hidden by yours
                              </Badge>
                            )}
                          </Group>
                        </Table.Td>
                        <Table.Td className="breaking">
                          <Text size="sm" lineClamp={3}>
                            {fieldsOf(skill).description ?? ''}
                          </Text>
                        </Table.Td>
                      </Table.Tr>
                    ))}
                  </Table.Tbody>
                </Table>
              </Table.ScrollContainer>
              {all.length >= MOST_LISTED && <Nothing>The first {all.length} skills are searched.</Nothing>}
            </>
          );
        }}
      </Loaded>
    </View>
  );
}
