import { Anchor, Group } from '@mantine/core';
import { useViewportSize } from '@mantine/hooks';
import { type CSSProperties, memo, type ReactElement, type UIEvent, useEffect, useRef, useState } from 'react';
import { apiPath } from '../shared/api.ts';
import { Note } from '../shared/view.tsx';
import { type OutputLine, styledParts } from './ansi.ts';

/** Of every line, in pixels, so that the place of a line follows from its number. */
const LINE_HEIGHT = 19;

/** The output of a job, line by line. It stays at its end until a reader scrolls up. */
export function OutputView({ id, lines, isLive }: { id: string; lines: OutputLine[]; isLive: boolean }): ReactElement {
  const place = useRef<HTMLDivElement>(null);
  /** The first visible line; null for the end. */
  const [top, setTop] = useState<number | null>(null);
  // The window has room for twice the lines that are visible.
  const count = Math.ceil(useViewportSize().height / LINE_HEIGHT);
  const first = Math.max(0, top === null ? lines.length - count : top - Math.floor(count / 4));
  useEffect(() => {
    if (top === null && place.current !== null) place.current.scrollTop = place.current.scrollHeight;
  }, [lines.length, top]);
  const scrolled = ({ currentTarget }: UIEvent): void => {
    const { scrollHeight, scrollTop, clientHeight } = currentTarget;
    const isAtEnd = scrollHeight - scrollTop - clientHeight < 2 * LINE_HEIGHT;
    setTop(isAtEnd ? null : Math.floor(scrollTop / LINE_HEIGHT));
  };
  return (
    <>
      <div ref={place} className="output" tabIndex={0} role="region" aria-label="Output" onScroll={scrolled}>
        {lines.length === 0 && <span>{isLive ? 'No output yet.' : 'No output.'}</span>}
        <div style={{ height: lines.length * LINE_HEIGHT, position: 'relative' }}>
          {lines.slice(first, first + count).map((line, index) => (
            <div
              key={first + index}
              className={`line ${line.stream}`}
              style={{ transform: `translateY(${(first + index) * LINE_HEIGHT}px)`, height: LINE_HEIGHT }}
            >
              <Line line={line} text={line.text} />
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
const Line = memo(function Line({ line }: { line: OutputLine; text: string }): ReactElement {
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
