import type { SessionRun } from '../contracts/session.ts';
import type { RunOutput } from './sandbox-tools.ts';
import type { SandboxToolsSettings } from './sandbox-tools-options.ts';
import { shownResult } from './shown-result.ts';
import { shownRun } from './shown-run.ts';
import { takeFitting } from './take-fitting.ts';

/** What a model reads of a run of a session. */
export function shownSessionRun(
  run: SessionRun,
  sessionId: string,
  { outputCharacters, images }: Pick<SandboxToolsSettings, 'outputCharacters' | 'images'>,
  notes: readonly string[],
): RunOutput {
  const results = run.results.map((result) => shownResult(result, outputCharacters, images));
  const pictures = results.filter(({ base64 }) => base64 !== undefined);
  const texts = takeFitting(
    results.filter(({ base64 }) => base64 === undefined),
    outputCharacters,
  );
  const left = results.length - pictures.length - texts.length;
  const more = [...notes, ...(left === 0 ? [] : [`${left} more results were displayed.`])];
  const displayed = results.filter((result) => result.base64 !== undefined || texts.includes(result));
  return {
    ...shownRun({ ...run, jobId: sessionId }, outputCharacters, more),
    run: run.run,
    state: run.state,
    ...(displayed.length === 0 ? {} : { displayed }),
  };
}
