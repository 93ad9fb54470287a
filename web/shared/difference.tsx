import { structuredPatch } from 'diff';
import { Fragment, type ReactElement, useMemo } from 'react';
import { Nothing } from './view.tsx';

/** Longer comparisons end early, so that two foreign texts cannot hold the page. */
const MOST_EDITS = 5_000;

/** The changed lines between two texts, with the lines around them. */
export function Difference(props: { label: string; before: string; after: string }): ReactElement {
  const { label, before, after } = props;
  const patch = useMemo(
    () => structuredPatch('', '', before, after, undefined, undefined, { context: 3, maxEditLength: MOST_EDITS }),
    [before, after],
  );
  if (patch === undefined) return <Nothing>The texts differ in more than {MOST_EDITS} places.</Nothing>;
  if (patch.hunks.length === 0) return <Nothing>No difference.</Nothing>;
  return (
    <pre className="code difference" tabIndex={0} role="region" aria-label={label}>
      {patch.hunks.map(({ oldStart, oldLines, newStart, newLines, lines }) => (
        <Fragment key={oldStart}>
          <span className="hunk">
            @@ -{oldStart},{oldLines} +{newStart},{newLines} @@
          </span>
          {lines.map((line, index) => (
            <span key={`${oldStart + index} ${line}`} className={CLASSES[line.charAt(0)]}>
              {line}
            </span>
          ))}
        </Fragment>
      ))}
    </pre>
  );
}

const CLASSES: Readonly<Record<string, string>> = { '+': 'added', '-': 'removed' };
