import { Badge, Group, List, Stack, Text, Title } from '@mantine/core';
import type { ReactElement } from 'react';
import type { UploadAnswer } from '../../src/server/schemas/skills.ts';
import { shortDigest } from '../shared/format.ts';
import { Nothing } from '../shared/view.tsx';

/** A diagnostic or a finding of a scan. */
interface Found {
  code: string;
  severity: string;
  message: string;
  path?: string;
  line?: number;
}

/** The result of a check: findings, diagnostics and changed files. */
export function UploadReport({ answer }: { answer: UploadAnswer }): ReactElement {
  const { name, slug, digest, findings, diagnostics, changes } = answer;
  return (
    <Stack gap="xs" role="region" aria-label="Result of the check">
      <Text className="breaking">
        {name} ({slug}, digest {shortDigest(digest)})
      </Text>
      <FoundList title="Findings of the scan" none="The scan has found nothing." found={findings as Found[]} />
      <FoundList title="Diagnostics" none="No diagnostics." found={diagnostics as Found[]} />
      <Title order={2} size="h4">
        Changed files
      </Title>
      {changes.length === 0 && <Nothing>All files are as they were.</Nothing>}
      <List size="sm" className="breaking">
        {changes.map(({ path, state }) => (
          <List.Item key={path}>
            {path}: {state}
          </List.Item>
        ))}
      </List>
    </Stack>
  );
}

function FoundList({ title, none, found }: { title: string; none: string; found: Found[] }): ReactElement {
  return (
    <>
      <Title order={2} size="h4">
        {title}
      </Title>
      {found.length === 0 && <Nothing>{none}</Nothing>}
      {found.map(({ code, severity, message, path, line }) => (
        <Group key={`${code} ${path} ${line} ${message}`} gap="xs" wrap="nowrap" align="start">
          <Badge variant="default" miw={90}>
            {severity}
          </Badge>
          <Text size="sm" className="breaking">
            {path !== undefined && `${path}${line === undefined ? '' : `:${line}`}: `}
            {message} ({code})
          </Text>
        </Group>
      ))}
    </>
  );
}
