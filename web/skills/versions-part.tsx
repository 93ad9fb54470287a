import { Group, NativeSelect, Stack, Table, Text, Title } from '@mantine/core';
import type { ReactElement } from 'react';
import type { SkillVersion } from '../../src/registry/skills/skill-versions.ts';
import { useFilters } from '../shared/address.tsx';
import { ask } from '../shared/api.ts';
import { ConfirmButton } from '../shared/confirm.tsx';
import { Difference } from '../shared/difference.tsx';
import { bytesText, shortDigest, timeText } from '../shared/format.ts';
import { useChange } from '../shared/queries.ts';
import { Loaded, Nothing } from '../shared/view.tsx';
import { shownText, useFiles } from './archive.ts';

interface VersionsProps {
  id: string;
  /** ETag of the present version, on which a roll back is based. */
  etag: string;
  versions: SkillVersion[];
  mayChange: boolean;
}

/** All versions, the difference between two of them, and the way back to an older one. */
export function VersionsPart({ id, etag, versions, mayChange }: VersionsProps): ReactElement {
  return (
    <Stack>
      <Table.ScrollContainer minWidth={0}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Version</Table.Th>
              <Table.Th>Time</Table.Th>
              <Table.Th visibleFrom="sm">Archive</Table.Th>
              <Table.Th />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {versions.map(({ version, createdAt, digest, fileSize }, index) => (
              <Table.Tr key={version}>
                <Table.Td>
                  {version}{' '}
                  <Text span size="xs" c="dimmed">
                    {shortDigest(digest)}
                  </Text>
                </Table.Td>
                <Table.Td>{timeText(createdAt)}</Table.Td>
                <Table.Td visibleFrom="sm">{bytesText(fileSize)}</Table.Td>
                <Table.Td>{mayChange && index > 0 && <RollBack id={id} etag={etag} version={version} />}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {versions.length > 1 && <Changes id={id} versions={versions} />}
    </Stack>
  );
}

function RollBack({ id, etag, version }: { id: string; etag: string; version: number }): ReactElement {
  const change = useChange(() =>
    ask(`/skills/${encodeURIComponent(id)}/rollback`, { body: { version }, headers: { 'if-match': etag } }),
  );
  return (
    <ConfirmButton
      label="Roll back"
      name={`Roll back to version ${version}`}
      question={`Store the content of version ${version} as the next version?`}
      change={change}
      button={{ size: 'compact-sm', color: 'blue' }}
    />
  );
}

function Changes({ id, versions }: { id: string; versions: SkillVersion[] }): ReactElement {
  const [query, set] = useFilters();
  const chosen = (name: string, fallback: SkillVersion | undefined): SkillVersion | undefined =>
    versions.find(({ version }) => String(version) === query.get(name)) ?? fallback;
  const [before, after] = [chosen('before', versions[1]), chosen('after', versions[0])];
  const [old, next] = [useFiles(id, before?.version), useFiles(id, after?.version)];
  const paths = changedPaths(before, after);
  return (
    <Stack gap="xs">
      <Title order={2} size="h4">
        Difference
      </Title>
      <Group>
        {(['before', 'after'] as const).map((name) => (
          <NativeSelect
            key={name}
            label={name === 'before' ? 'From version' : 'To version'}
            data={versions.map(({ version }) => String(version))}
            value={String((name === 'before' ? before : after)?.version)}
            onChange={(event) => set(name, event.currentTarget.value)}
          />
        ))}
      </Group>
      {paths.length === 0 && <Nothing>All files are the same.</Nothing>}
      <Loaded query={old}>
        {(oldFiles) => (
          <Loaded query={next}>
            {(newFiles) =>
              paths.map((path) => (
                <section key={path}>
                  <Text fw={600} className="breaking">
                    {path}
                  </Text>
                  <Difference
                    label={`Difference of ${path}`}
                    before={shownText(oldFiles.get(path))}
                    after={shownText(newFiles.get(path))}
                  />
                </section>
              ))
            }
          </Loaded>
        )}
      </Loaded>
    </Stack>
  );
}

function changedPaths(before: SkillVersion | undefined, after: SkillVersion | undefined): string[] {
  const digests = ({ files = [] }: Partial<SkillVersion> = {}): Map<string, string> =>
    new Map(files.map(({ path, digest }) => [path, digest]));
  const [old, next] = [digests(before), digests(after)];
  return [...new Set([...old.keys(), ...next.keys()])].filter((path) => old.get(path) !== next.get(path)).toSorted();
}
