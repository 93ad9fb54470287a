import { List, Stack, Text } from '@mantine/core';
import type { ReactElement } from 'react';
import type { UploadAnswer } from '../../src/server/schemas/skills.ts';
import { shortDigest } from '../shared/format.ts';
import { Nothing, Part } from '../shared/view.tsx';

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
  const changed = changes.map(({ path, state }) => `${path}: ${state}`);
  return (
    <Stack role="region" aria-label="Result of the check">
      <Text className="breaking">
        {name} ({slug}, digest {shortDigest(digest)})
      </Text>
      <Lines
        title="Findings of the scan"
        none="The scan has found nothing."
        lines={(findings as Found[]).map(lineOf)}
      />
      <Lines title="Diagnostics" none="No diagnostics." lines={(diagnostics as Found[]).map(lineOf)} />
      <Lines title="Changed files" none="All files are as they were." lines={changed} />
    </Stack>
  );
}

function Lines({ title, none, lines }: { title: string; none: string; lines: string[] }): ReactElement {
  return (
    <Part title={title}>
      {lines.length === 0 && <Nothing>{none}</Nothing>}
      <List size="sm" className="breaking">
        {lines.map((line) => (
          <List.Item key={line}>{line}</List.Item>
        ))}
      </List>
    </Part>
  );
}

function lineOf({ code, severity, message, path, line }: Found): string {
  const place = path === undefined ? '' : `${path}${line === undefined ? '' : `:${line}`}: `;
  return `${severity}: ${place}${message} (${code})`;
}
