import { Text } from '@mantine/core';
import { type ReactElement, useState } from 'react';
import { CodeView } from '../shared/code-view.tsx';
import { Difference } from '../shared/difference.tsx';
import { CheckField } from '../shared/fields.tsx';
import { shortDigest } from '../shared/format.ts';
import { Note, Part } from '../shared/view.tsx';
import type { LiveAttempt } from './live-job.ts';

/** The programs of a codegen job, each with its difference to the one before. */
export function AttemptsPart(props: { attempts: LiveAttempt[]; language: string | undefined }): ReactElement | null {
  const { attempts, language = 'javascript' } = props;
  const [isWhole, setWhole] = useState(false);
  if (attempts.length === 0) return null;
  return (
    <Part title="Programs">
      {attempts.length > 1 && <CheckField label="Whole programs" checked={isWhole} onChange={setWhole} />}
      {attempts.map(({ attempt, code, promptSha256 }, index) => {
        const before = attempts[index - 1];
        const label = `Program of attempt ${attempt}`;
        return (
          <section key={attempt}>
            <Text fw={600}>Attempt {attempt}</Text>
            {promptSha256 !== null && <Note>prompt {shortDigest(promptSha256)}</Note>}
            {before === undefined || isWhole ? (
              <CodeView code={code} language={language} label={label} />
            ) : (
              <Difference label={`${label}, difference`} before={before.code} after={code} />
            )}
          </section>
        );
      })}
    </Part>
  );
}
