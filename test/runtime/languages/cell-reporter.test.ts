import { expect, it } from 'vitest';
import { createCellReporter, type EndedRun } from '../../../runtime/languages/javascript/session/cell-reporter.ts';

/** A reporter with its sent messages and written lines. */
function reporting(): { reporter: ReturnType<typeof createCellReporter>; sent: unknown[]; written: string[] } {
  const sent: unknown[] = [];
  const written: string[] = [];
  const link = {
    send: (bytes: Uint8Array) => void sent.push(JSON.parse(Buffer.from(bytes).toString())),
    sendBytes: () => undefined,
  } as unknown as Parameters<typeof createCellReporter>[1]['link'];
  const reporter = createCellReporter(1_000, { link, takeSet: () => undefined }, (text) => void written.push(text));
  return { reporter, sent, written };
}

const ended = (): EndedRun => ({
  run: 7,
  display: { dropped: 0, isRich: () => false } as unknown as EndedRun['display'],
  stray: undefined,
});

it('a report that was sent before its stop is sent again unchanged, and its error is written once', () => {
  const { reporter, sent, written } = reporting();
  const over = ended();
  reporter.report(over, { failed: true, is: new Error('thrown') }, false);
  reporter.reportStopped(over, new Error('stopped'));
  expect(sent).toMatchObject([
    { type: 'cell', run: 7, error: { message: 'thrown' } },
    { type: 'cell', run: 7, error: { message: 'thrown' } },
  ]);
  expect(written).toEqual([expect.stringContaining('Uncaught Error: thrown')]);
});

it('a report that was stopped before completion becomes the error of the stop', () => {
  const { reporter, sent, written } = reporting();
  reporter.reportStopped(ended(), new Error('stopped'));
  expect(sent).toMatchObject([{ type: 'cell', run: 7, error: { message: 'stopped' } }]);
  expect(written).toEqual([expect.stringContaining('Uncaught Error: stopped')]);
});
