import { Group, SegmentedControl } from '@mantine/core';
import type { ReactElement } from 'react';
import type { SkillScope } from '../../src/registry/skills/skill-versions.ts';
import type { UnifiedSkill } from '../../src/server/schemas/kinds.ts';
import { useFilters } from '../shared/address.tsx';
import { LinkButton } from '../shared/fields.tsx';
import { FormRows } from '../shared/form-rows.tsx';
import { SearchField } from '../shared/search-field.tsx';
import { useMe } from '../shared/user.ts';
import { Loaded, Note, View } from '../shared/view.tsx';
import { fieldsOf, MOST_LISTED, useSkills } from './skills.ts';

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
        <SegmentedControl data={scopes} value={scope} onChange={(value) => set('scope', value)} aria-label="Scope" />
        <SearchField />
      </Group>
      <Loaded query={skills}>
        {(all) => (
          <>
            <FoundSkills skills={all.filter(isFound)} />
            {all.length >= MOST_LISTED && <Note>The first {all.length} skills are searched.</Note>}
          </>
        )}
      </Loaded>
    </View>
  );
}

function FoundSkills({ skills }: { skills: UnifiedSkill[] }): ReactElement {
  return (
    <>
      <FormRows items={skills.slice(0, MOST_SHOWN)} base="/skills" none="No skills." />
      {skills.length > MOST_SHOWN && (
        <Note>{`The first ${MOST_SHOWN} of ${skills.length} are shown; a search finds the others.`}</Note>
      )}
    </>
  );
}
