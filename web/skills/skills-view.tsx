import { Group, SegmentedControl } from '@mantine/core';
import type { ReactElement } from 'react';
import type { SkillScope } from '../../src/registry/skills/skill-versions.ts';
import type { UnifiedSkill } from '../../src/server/schemas/kinds.ts';
import { useFilters } from '../shared/address.tsx';
import { LinkButton } from '../shared/fields.tsx';
import { FormRows } from '../shared/form-rows.tsx';
import { SearchField } from '../shared/search-field.tsx';
import { useMe } from '../shared/user.ts';
import { Loaded, Note, Problem, View } from '../shared/view.tsx';
import { fieldsOf, useSkills } from './skills.ts';

const SCOPES: { value: SkillScope; label: string }[] = [
  { value: 'all', label: 'All' },
  { value: 'own', label: 'Mine' },
  { value: 'public', label: 'Public' },
];
/** For those who read the skills of others, which they cannot load. */
const SCOPES_OF_READERS: typeof SCOPES = [...SCOPES, { value: 'everyone', label: 'Everyone’s' }];

/** Thousands of rows would hold the page for seconds. */
const MOST_SHOWN = 200;

/** The list of skills. */
export function SkillsView(): ReactElement {
  const me = useMe();
  const [query, set] = useFilters();
  const scopes = me.role === 'member' ? SCOPES : SCOPES_OF_READERS;
  const usual = me.role === 'viewer' ? 'everyone' : 'all';
  const scope = scopes.find(({ value }) => value === query.get('scope'))?.value ?? usual;
  const words = (query.get('q') ?? '').toLowerCase().split(/\s+/);
  const isFound = (skill: UnifiedSkill): boolean => {
    const text =
      `${skill.metadata.name} ${skill.metadata.namespace} ${fieldsOf(skill).description ?? ''}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const skills = useSkills(scope, (all) => all.filter(isFound).length > MOST_SHOWN);
  const { error, hasNextPage } = skills;
  return (
    <View
      title="Skills"
      actions={!me.readOnly && <LinkButton variant="filled" to="/skills/upload" children="Upload" />}
    >
      <Group gap="xs">
        <SegmentedControl data={scopes} value={scope} onChange={(value) => set('scope', value)} aria-label="Scope" />
        <SearchField />
      </Group>
      <Loaded query={skills}>
        {(all) => {
          const found = all.filter(isFound);
          const none = hasNextPage ? 'No skills so far.' : 'No skills.';
          return (
            <>
              <Problem error={error} />
              <FormRows items={found.slice(0, MOST_SHOWN)} base="/skills" none={none} />
              {found.length > MOST_SHOWN && <Note>The first {MOST_SHOWN} are shown; a search finds the others.</Note>}
              {found.length <= MOST_SHOWN && hasNextPage && <Note>The first {all.length} are searched so far.</Note>}
            </>
          );
        }}
      </Loaded>
    </View>
  );
}
