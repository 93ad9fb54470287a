import { Stack } from '@mantine/core';
import type { ReactElement } from 'react';
import { useFilters } from '../shared/address.tsx';
import { CodeView, languageOf } from '../shared/code-view.tsx';
import { ChoiceField } from '../shared/fields.tsx';
import { bytesText, shortDigest } from '../shared/format.ts';
import { Loaded, Note, Nothing } from '../shared/view.tsx';
import { shownText, useFiles } from './archive.ts';
import type { SkillPartProps } from './skills.ts';

/** The files of the present version, one of them opened. */
export function FilesPart({ id, versions: [present] }: SkillPartProps): ReactElement {
  const [query, set] = useFilters();
  const content = useFiles(id, present?.version);
  const files = present?.files ?? [];
  const file = files.find(({ path }) => path === query.get('file')) ?? files[0];
  if (file === undefined) return <Nothing>No files.</Nothing>;
  const { path, digest, executable } = file;
  const choices = files.map((each) => ({ value: each.path, label: `${each.path} (${bytesText(each.bytes)})` }));
  return (
    <Stack gap="xs">
      <ChoiceField label="File" data={choices} value={path} onChange={(to) => set('file', to)} />
      <Note>{`digest ${shortDigest(digest)}${executable ? ', executable' : ''}`}</Note>
      <Loaded query={content}>
        {(all) => <CodeView code={shownText(all.get(path))} language={languageOf(path)} label={path} />}
      </Loaded>
    </Stack>
  );
}
