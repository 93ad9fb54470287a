import type { SessionResult, SessionRun } from '../../contracts/jobs/session.ts';
import type { RunOutput, ShownResult } from '../sandbox-tools.ts';
import type { SandboxToolsSettings } from '../sandbox-tools-options.ts';
import { shownRun } from './shown-run.ts';
import { takeFitting } from './take-fitting.ts';
import { cutText } from './cut-text.ts';

/** Picture formats that services of models accept. */
const PICTURES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'];
/** Text formats by preference: the most meaning in the fewest characters first. */
const TEXTS = ['text/markdown', 'text/plain', 'application/json', 'text/latex', 'text/html', 'image/svg+xml'];
const PICTURE_BYTES = 1024 * 1024;

/** A run of a session for a model. */
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

/** One form of a result: the one of most use to the model. */
function shownResult({ data }: SessionResult, characters: number, images: boolean): ShownResult {
  const forms = Object.entries(data);
  const picture = forms.find(([type, content]) => PICTURES.includes(type) && content.length <= PICTURE_BYTES);
  if (images && picture !== undefined && typeof picture[1] !== 'string')
    return { mediaType: picture[0], base64: Buffer.from(picture[1]).toString('base64') };
  const [text] = forms
    .filter((form): form is [string, string] => typeof form[1] === 'string')
    .toSorted(([a], [b]) => rank(a) - rank(b));
  if (text !== undefined) {
    const [mediaType, whole] = text;
    return { mediaType, text: cutText({ text: whole, bytes: whole.length, truncated: false }, characters) };
  }
  const [mediaType = 'application/octet-stream', content] = forms[0] ?? [];
  return { mediaType, bytes: content?.length ?? 0 };
}

function rank(mediaType: string): number {
  const place = TEXTS.indexOf(mediaType);
  return place < 0 ? TEXTS.length : place;
}
