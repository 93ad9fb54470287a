import { Stack, Switch, Text, Title } from '@mantine/core';
import { type ReactElement, useState } from 'react';
import { CodeView } from '../shared/code-view.tsx';
import { Difference } from '../shared/difference.tsx';
import { shortDigest } from '../shared/format.ts';
import type { LiveAttempt } from './live-job.ts';

/** The programs of a codegen job, each with its difference to the one before. */
export function AttemptsPart(props: { attempts: LiveAttempt[]; language: string | undefined }): ReactElement | null {
  const { attempts, language = 'javascript' } = props;
  const [isWhole, setWhole] = useState(false);
  if (attempts.length === 0) return null;
  return (
    <Stack gap="xs">
      <Title order={2} size="h4">
        Programs
      </Title>
      {attempts.length > 1 && (
        <Switch
          label="Whole programs instead of differences"
          checked={isWhole}
          onChange={(event) => setWhole(event.currentTarget.checked)}
        />
      )}
      {attempts.map(({ attempt, code, promptSha256 }, index) => {
        const before = attempts[index - 1];
        const label = `Program of attempt ${attempt}`;
        return (
          <section key={attempt}>
            <Text fw={600}>Attempt {attempt}</Text>
            {promptSha256 !== null && (
              <Text size="sm" c="dimmed" title={promptSha256}>
                prompt {shortDigest(promptSha256)}
              </Text>
            )}
            {before === undefined || isWhole ? (
              <CodeView code={code} language={language} label={label} />
            ) : (
              <Difference label={`${label}, difference`} before={before.code} after={code} />
            )}
          </section>
        );
      })}
    </Stack>
  );
}
