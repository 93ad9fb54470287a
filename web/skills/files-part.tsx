import { NativeSelect, Stack, Text } from '@mantine/core';
import type { ReactElement } from 'react';
import type { SkillVersion } from '../../src/registry/skills/skill-versions.ts';
import { useFilters } from '../shared/address.tsx';
import { CodeView, languageOf } from '../shared/code-view.tsx';
import { bytesText, shortDigest } from '../shared/format.ts';
import { Loaded, Nothing } from '../shared/view.tsx';
import { shownText, useFiles } from './archive.ts';

/** The files of the present version, one of them opened. */
export function FilesPart({ id, version }: { id: string; version: SkillVersion | undefined }): ReactElement {
  const [query, set] = useFilters();
  const content = useFiles(id, version?.version);
  if (version === undefined) return <Nothing>The skill has no version.</Nothing>;
  const { files } = version;
  const file = files.find(({ path }) => path === query.get('file')) ?? files[0];
  if (file === undefined) return <Nothing>No files.</Nothing>;
  return (
    <Stack gap="xs">
      <NativeSelect
        label={`${files.length} ${files.length === 1 ? 'file' : 'files'}`}
        data={files.map(({ path, bytes }) => ({ value: path, label: `${path} (${bytesText(bytes)})` }))}
        value={file.path}
        onChange={(event) => set('file', event.currentTarget.value)}
      />
      <Text size="sm" c="dimmed">
        digest {shortDigest(file.digest)}
        {file.executable && ', executable'}
      </Text>
      <Loaded query={content}>
        {(all) => <CodeView code={shownText(all.get(file.path))} language={languageOf(file.path)} label={file.path} />}
      </Loaded>
    </Stack>
  );
}
