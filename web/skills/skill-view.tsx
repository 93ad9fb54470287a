import { Badge, Button, Code, Group, Stack, Tabs, Text } from '@mantine/core';
import type { ReactElement } from 'react';
import type { KindForm } from '../../src/registry/kinds/kind-object.ts';
import type { SkillVersion } from '../../src/registry/skills/skill-versions.ts';
import { CodeView } from '../shared/code-view.tsx';
import { goTo, linkTo } from '../shared/address.tsx';
import { apiPath } from '../shared/api.ts';
import { useMe } from '../shared/user.ts';
import { Loaded, View } from '../shared/view.tsx';
import { shownText, useFiles } from './archive.ts';
import { DeleteSkill } from './delete-skill.tsx';
import { FilesPart } from './files-part.tsx';
import { ReferencesPart } from './references-part.tsx';
import { fieldsOf, useSkill, useVersions } from './skills.ts';
import { VersionsPart } from './versions-part.tsx';

/** A skill: its text, files, versions and references. */
export function SkillView({ id, part }: { id: string; part: string }): ReactElement {
  const query = useSkill(id);
  const versions = useVersions(id);
  return (
    <Loaded query={query}>
      {({ skill, etag }) => (
        <Loaded query={versions}>
          {(all) => <Skill id={id} part={part} skill={skill} etag={etag} versions={all} />}
        </Loaded>
      )}
    </Loaded>
  );
}

interface SkillProps {
  id: string;
  part: string;
  skill: KindForm;
  etag: string;
  versions: SkillVersion[];
}

function Skill({ id, part, skill, etag, versions }: SkillProps): ReactElement {
  const me = useMe();
  const { name, namespace, labels } = skill.metadata;
  const isPublic = labels.user_id === '0';
  const mayChange = !me.readOnly && (isPublic ? me.role === 'admin' : labels.user_id === String(me.id));
  const { description = '', version, author, tags = [] } = fieldsOf(skill);
  return (
    <View
      title={name}
      actions={
        <>
          <Button component="a" variant="default" href={apiPath(`/skills/${encodeURIComponent(id)}/download`)} download>
            Download
          </Button>
          {mayChange && (
            <>
              <Button component="a" variant="default" {...linkTo(`/skills/upload?of=${encodeURIComponent(id)}`)}>
                New version
              </Button>
              <DeleteSkill id={id} name={name} />
            </>
          )}
        </>
      }
    >
      <Stack gap={4}>
        <Text className="breaking">{description}</Text>
        <Group gap={6}>
          <Badge variant="default">{isPublic ? 'public' : namespace}</Badge>
          {[version && `version ${version}`, author, ...tags].filter(Boolean).map((text) => (
            <Badge key={text} variant="default" maw="100%">
              {text}
            </Badge>
          ))}
        </Group>
        <Text size="sm">
          In jobs: <Code>{`${isPublic ? 'public' : 'custom'}.…`}</Code> or the name <Code>{name}</Code>
        </Text>
      </Stack>
      <Tabs
        value={part}
        onChange={(to) => goTo(`/skills/${encodeURIComponent(id)}/${to ?? 'text'}`)}
        keepMounted={false}
      >
        <Tabs.List>
          <Tabs.Tab value="text">Text</Tabs.Tab>
          <Tabs.Tab value="files">Files</Tabs.Tab>
          <Tabs.Tab value="versions">Versions</Tabs.Tab>
          <Tabs.Tab value="references">References</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="text" pt="md">
          <TextPart id={id} version={versions[0]} />
        </Tabs.Panel>
        <Tabs.Panel value="files" pt="md">
          <FilesPart id={id} version={versions[0]} />
        </Tabs.Panel>
        <Tabs.Panel value="versions" pt="md">
          <VersionsPart id={id} etag={etag} versions={versions} mayChange={mayChange} />
        </Tabs.Panel>
        <Tabs.Panel value="references" pt="md">
          <ReferencesPart id={id} mayChange={mayChange} />
        </Tabs.Panel>
      </Tabs>
    </View>
  );
}

function TextPart({ id, version }: { id: string; version: SkillVersion | undefined }): ReactElement {
  const files = useFiles(id, version?.version);
  return (
    <Loaded query={files}>
      {(all) => {
        const path = [...all.keys()].find((name) => name.toLowerCase() === 'skill.md') ?? '';
        return <CodeView code={shownText(all.get(path))} language="markdown" label={path} />;
      }}
    </Loaded>
  );
}
