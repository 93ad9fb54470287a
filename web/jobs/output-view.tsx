import { Anchor, Group } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type CSSProperties, memo, type ReactElement, useEffect, useRef, useState } from 'react';
import { apiPath } from '../shared/api.ts';
import { Note } from '../shared/view.tsx';
import { type OutputLine, styledParts } from './ansi.ts';

const LINE_HEIGHT = 19;

/** The output of a job, line by line. It stays at its end until a reader scrolls up. */
export function OutputView({ id, lines, isLive }: { id: string; lines: OutputLine[]; isLive: boolean }): ReactElement {
  const place = useRef<HTMLDivElement>(null);
  const [isAtEnd, setAtEnd] = useState(true);
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => place.current,
    estimateSize: () => LINE_HEIGHT,
    overscan: 20,
  });
  useEffect(() => {
    if (isAtEnd && place.current !== null) place.current.scrollTop = place.current.scrollHeight;
  }, [lines.length, isAtEnd]);
  const scrolled = (): void => {
    const { scrollHeight = 0, scrollTop = 0, clientHeight = 0 } = place.current ?? {};
    setAtEnd(scrollHeight - scrollTop - clientHeight < 2 * LINE_HEIGHT);
  };
  return (
    <>
      <div ref={place} className="output" tabIndex={0} role="region" aria-label="Output" onScroll={scrolled}>
        {lines.length === 0 && <span>{isLive ? 'No output yet.' : 'No output.'}</span>}
        <div style={{ height: rows.getTotalSize(), position: 'relative' }}>
          {rows.getVirtualItems().map(({ index, start }) => (
            <div
              key={index}
              className={`line ${lines[index]?.stream ?? ''}`}
              style={{ transform: `translateY(${start}px)`, height: LINE_HEIGHT }}
            >
              <Line line={lines[index]} text={lines[index]?.text ?? ''} />
            </div>
          ))}
        </div>
      </div>
      <Group gap="md">
        <Note>{`${lines.length} ${lines.length === 1 ? 'line' : 'lines'}`}</Note>
        {!isLive &&
          ['stdout', 'stderr'].map((stream) => (
            <Anchor key={stream} size="sm" href={apiPath(`/jobs/${encodeURIComponent(id)}/output/${stream}`)} download>
              {stream}
            </Anchor>
          ))}
      </Group>
    </>
  );
}

/** A line grows in place: its text is a property of its own. */
const Line = memo(function Line({ line }: { line: OutputLine | undefined; text: string }): ReactElement | null {
  if (line === undefined) return null;
  return (
    <>
      {styledParts(line).map(({ content, fg, bg, decorations }, index) => (
        // The parts of a line never change their order.
        // oxlint-disable-next-line react/no-array-index-key
        <span key={index} className={decorations.map((name) => `ansi-${name}`).join(' ')} style={colours(fg, bg)}>
          {content}
        </span>
      ))}
    </>
  );
});

function colours(fg: string | null, bg: string | null): CSSProperties {
  return {
    ...(fg === null ? {} : { color: readable(fg) }),
    ...(bg === null ? {} : { backgroundColor: `rgb(${bg})` }),
  };
}

/** A colour that can be read on the dark ground: dark ones become lighter. */
function readable(rgb: string): string {
  const [red = 0, green = 0, blue = 0] = rgb.split(',').map(Number);
  const light = 0.299 * red + 0.587 * green + 0.114 * blue;
  const lift = light >= 140 ? 0 : (140 - light) / (255 - light);
  return `rgb(${[red, green, blue].map((value) => Math.round(value + (255 - value) * lift)).join(', ')})`;
}
