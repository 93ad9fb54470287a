import { Buffer } from '../captured.ts';
import type { Ending } from './cell-evaluator.ts';
import { describeError } from '../describe-error.ts';
import type { Display } from './display.ts';
import { exactJson } from './exact-json.ts';
import { shortTexts } from '../short-texts.ts';
import type { SupervisorLink } from '../supervisor-link.ts';

/** JSON text of a value, or its size in bytes if it exceeds every limit. */
export type ToldValue = string | number;

/** The services of the executor that a reporter uses. */
export interface ReportPorts {
  link: SupervisorLink;
  /** Takes the JSON that the program set as its value, which counts for one run only. */
  takeSet(): ToldValue | undefined;
}

/** The report of a run. It inherits nothing, since user code can change the prototype of all objects. */
type Said = Record<string, unknown>;

/** An ended run. */
export interface EndedRun {
  run: number;
  display: Display;
  /** A failure outside the run's own code, during the run. */
  stray: { is: unknown } | undefined;
  /** Its report, once it is complete. */
  said?: Said;
}

/** Reports the results of runs. */
export interface CellReporter {
  /** Sends a result of a run before its report. */
  show(run: number, forms: [string, number][], parts: Uint8Array[]): void;
  report(ended: EndedRun, ending: Ending, isLeaving: boolean): void;
  /** The same for a run whose only report is this error. */
  reportError(run: number, error: unknown): void;
  /**
   * Reports a run whose report was stopped: sends the finished report again, or the stop as the error where no report was finished. The
   * supervisor takes the first report of a run.
   */
  reportStopped(ended: EndedRun, stop: unknown): void;
}

/** Creates a reporter for values of at most `valueBytes` bytes. `warn` writes a line to stderr. */
export function createCellReporter(
  valueBytes: number,
  { link, takeSet }: ReportPorts,
  warn: (text: string) => void,
): CellReporter {
  const begin = (run: number): Said => ({ __proto__: null, type: 'cell', run });
  const send = (said: Said): void => link.send(Buffer.from(exactJson(said) ?? ''));
  const fail = (said: Said, error: unknown, isTold = false): void => {
    const texts = describeError(error);
    said['error'] = shortTexts(texts);
    if (!isTold) warn(`Uncaught ${texts.stack}`);
  };
  const tellValue = (said: Said, json: ToldValue | undefined): void => {
    if (json === undefined) return;
    const size = typeof json === 'number' ? json : Buffer.byteLength(json);
    said['json'] = size > valueBytes ? size : json;
  };
  /** The code with which a value shows itself is user code and belongs to the run. */
  const showValue = (said: Said, { is }: Ending, display: Display): void => {
    const json = takeSet() ?? exactJson(is);
    tellValue(said, json);
    try {
      if (json === undefined || display.isRich(is)) display.showLast(is);
    } catch (error) {
      fail(said, error);
    }
  };
  const reportError = (run: number, error: unknown): void => {
    const said = begin(run);
    fail(said, error);
    send(said);
  };

  return {
    show(run, forms, parts) {
      for (const part of parts) link.sendBytes(0, part);
      send({ __proto__: null, type: 'shown', run, forms });
    },
    report(ended, ending, isLeaving) {
      const { run, display, stray } = ended;
      const said = begin(run);
      if (isLeaving) said['leaving'] = true;
      if (ending.failed) fail(said, ending.is);
      else if (stray !== undefined) fail(said, stray.is, true);
      if (ending.failed) tellValue(said, takeSet());
      else showValue(said, ending, display);
      if (display.dropped > 0) said['dropped'] = display.dropped;
      ended.said = said;
      send(said);
    },
    reportError,
    reportStopped({ run, said }, stop) {
      if (said === undefined) reportError(run, stop);
      else send(said);
    },
  };
}
