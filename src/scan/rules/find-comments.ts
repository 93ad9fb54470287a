import type { FoundInFile } from '../scan-finding.ts';
import type { ScannedFile } from '../scanned-file.ts';
import { codeRanges } from '../../skills/render/code-ranges.ts';
import { isInRanges } from '../text/text-ranges.ts';

/** Comments that tools write into Markdown for themselves. */
const OF_TOOLS = /^<!--\s?(?:prettier-ignore|markdownlint|toc|\/?tocstop|vale|textlint|eslint|spdx|omit in toc)/i;

/** Finds comments of Markdown outside of code: a model reads them like other text. */
export function* findComments({ text, isMarkdown, comments }: ScannedFile): Generator<FoundInFile> {
  if (!isMarkdown || !text.includes('<!--')) return;
  const code = codeRanges(text);
  for (const { start, end } of comments())
    if (!isInRanges(code, start) && !OF_TOOLS.test(text.slice(start, end)))
      yield { code: 'scan.comment', message: 'A comment that is not shown, but that a model reads.', at: start };
}
