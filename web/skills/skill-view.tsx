import { Badge, Button, Group, Tabs, Text } from '@mantine/core';
import type { ReactElement } from 'react';
import type { KindForm } from '../../src/registry/kinds/kind-object.ts';
import { goTo } from '../shared/address.tsx';
import { apiPath } from '../shared/api.ts';
import { CodeView } from '../shared/code-view.tsx';
import { LinkButton } from '../shared/fields.tsx';
import { useMe } from '../shared/user.ts';
import { canChange, usePlaces } from '../shared/users.ts';
import { Loaded, View } from '../shared/view.tsx';
import { shownText, useFiles } from './archive.ts';
import { DeleteSkill } from './delete-skill.tsx';
import { FilesPart } from './files-part.tsx';
import { ReferencesPart } from './references-part.tsx';
import { fieldsOf, type SkillPartProps, useSkill, useVersions } from './skills.ts';
import { VersionsPart } from './versions-part.tsx';

const PARTS = ['text', 'files', 'versions', 'references'];

/** A skill: its text, files, versions and references. */
export function SkillView({ id, part }: { id: string; part: string }): ReactElement {
  const query = useSkill(id);
  const versions = useVersions(id);
  return (
    <Loaded isView query={query}>
      {(loaded) => (
        <Loaded isView query={versions}>
          {(all) => <Skill id={id} part={part} {...loaded} versions={all} />}
        </Loaded>
      )}
    </Loaded>
  );
}

function Skill(props: Omit<SkillPartProps, 'mayChange'> & { part: string; form: KindForm }): ReactElement {
  const { part, form, ...rest } = props;
  const me = useMe();
  const placeOf = usePlaces();
  const { name, labels } = form.metadata;
  const mayChange = canChange(me, form);
  const { description = '', version, author, tags = [] } = fieldsOf(form);
  const marks = [placeOf(form), version && `version ${version}`, author, ...tags].filter(Boolean);
  const given = { ...rest, mayChange };
  const actions = (
    <>
      <Button component="a" href={apiPath(`/skills/${labels.id}/download`)} download children="Download" />
      {mayChange && <LinkButton to={`/skills/upload?of=${labels.id}`} children="New version" />}
      {mayChange && <DeleteSkill id={labels.id} name={name} />}
    </>
  );
  return (
    <View title={name} actions={actions}>
      <Text className="breaking">{description}</Text>
      <Group gap={6}>
        {marks.map((text) => (
          <Badge key={text} maw="100%" children={text} />
        ))}
      </Group>
      <Tabs value={part} onChange={(to) => goTo(`/skills/${labels.id}/${to ?? ''}`)} keepMounted={false}>
        <Tabs.List mb="md">
          {PARTS.map((value) => (
            <Tabs.Tab key={value} value={value} tt="capitalize" children={value} />
          ))}
        </Tabs.List>
        <Tabs.Panel value="text" children={<TextPart {...given} />} />
        <Tabs.Panel value="files" children={<FilesPart {...given} />} />
        <Tabs.Panel value="versions" children={<VersionsPart {...given} />} />
        <Tabs.Panel value="references" children={<ReferencesPart {...given} />} />
      </Tabs>
    </View>
  );
}

function TextPart({ id, versions: [present] }: SkillPartProps): ReactElement {
  const files = useFiles(id, present?.version);
  return (
    <Loaded query={files}>
      {(all) => {
        const path = [...all.keys()].find((name) => name.toLowerCase() === 'skill.md') ?? '';
        return <CodeView code={shownText(all.get(path))} language="markdown" label={path} />;
      }}
    </Loaded>
  );
}
