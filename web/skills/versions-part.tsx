import { Group, Stack, Text } from '@mantine/core';
import type { ReactElement } from 'react';
import type { SkillVersion } from '../../src/registry/skills/skill-versions.ts';
import { useFilters } from '../shared/address.tsx';
import { ask } from '../shared/api.ts';
import { ConfirmButton } from '../shared/confirm.tsx';
import { Difference } from '../shared/difference.tsx';
import { ChoiceField } from '../shared/fields.tsx';
import { shortDigest, timeText } from '../shared/format.ts';
import { useChange } from '../shared/queries.ts';
import { type Column, Rows } from '../shared/rows.tsx';
import { Loaded, Nothing, Part } from '../shared/view.tsx';
import { shownText, useFiles } from './archive.ts';
import type { SkillPartProps } from './skills.ts';

/** All versions, the difference between two of them, and the way back to an older one. */
export function VersionsPart({ id, etag, versions, mayChange }: SkillPartProps): ReactElement {
  const present = versions[0]?.version;
  const columns: Column<SkillVersion>[] = [
    { head: 'Version', cell: ({ version }) => version },
    { head: 'Time', cell: ({ createdAt }) => timeText(createdAt) },
    { head: 'Digest', wide: true, cell: ({ digest }) => shortDigest(digest) },
    {
      head: 'Change',
      cell: ({ version }) => mayChange && version !== present && <RollBack id={id} etag={etag} version={version} />,
    },
  ];
  return (
    <Stack>
      <Rows items={versions} idOf={({ version }) => version} columns={columns} none="No versions." />
      {versions.length > 1 && <Changes id={id} versions={versions} />}
    </Stack>
  );
}

function RollBack({ id, etag, version }: { id: string; etag: string; version: number }): ReactElement {
  const change = useChange(() => ask(`/skills/${id}/rollback`, { body: { version }, headers: { 'if-match': etag } }));
  const question = `Store the content of version ${version} as the next version?`;
  const name = `Roll back to version ${version}`;
  return (
    <ConfirmButton label="Roll back" name={name} question={question} change={change} size="compact-sm" color="blue" />
  );
}

function Changes({ id, versions }: Pick<SkillPartProps, 'id' | 'versions'>): ReactElement {
  const [query, set] = useFilters();
  const chosen = (name: string, fallback: SkillVersion | undefined): SkillVersion | undefined =>
    versions.find(({ version }) => String(version) === query.get(name)) ?? fallback;
  const field = (name: string, at: SkillVersion | undefined): { value: string; onChange: (to: string) => void } => ({
    value: String(at?.version),
    onChange: (to) => set(name, to),
  });
  const [before, after] = [chosen('before', versions[1]), chosen('after', versions[0])];
  const [old, next] = [useFiles(id, before?.version), useFiles(id, after?.version)];
  const paths = changedPaths(before, after);
  const choices = versions.map(({ version }) => String(version));
  return (
    <Part title="Difference">
      <Group>
        <ChoiceField label="From version" data={choices} {...field('before', before)} />
        <ChoiceField label="To version" data={choices} {...field('after', after)} />
      </Group>
      {paths.length === 0 && <Nothing>All files are the same.</Nothing>}
      <Loaded query={old}>
        {(oldFiles) => (
          <Loaded query={next}>
            {(newFiles) =>
              paths.map((path) => (
                <section key={path}>
                  <Text fw={600} className="breaking" children={path} />
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
    </Part>
  );
}

function changedPaths(before: SkillVersion | undefined, after: SkillVersion | undefined): string[] {
  const digests = ({ files = [] }: Partial<SkillVersion> = {}): Map<string, string> =>
    new Map(files.map(({ path, digest }) => [path, digest]));
  const [old, next] = [digests(before), digests(after)];
  return [...new Set([...old.keys(), ...next.keys()])].filter((path) => old.get(path) !== next.get(path)).toSorted();
}
