/** A place between two events of a job. */
export interface LogPlace {
  /** The attempt whose log it is in: the one with which a process took the job. 0 is before all logs. */
  attempt: number;
  /** Bytes of that log up to the end of an event; 0 before the first. */
  offset: number;
}

/** The place before the first event. */
export const LOG_START: LogPlace = { attempt: 0, offset: 0 };

/** The last event of a job. */
export interface LoggedEvent {
  /** Bytes of its log up to its end. */
  offset: number;
  /** The beginning of its JSON, at most 32 KiB. */
  head: Buffer;
}

/** An event of a log, or a part of a long one. */
export interface LogPart {
  /** The place after the event. */
  place: LogPlace;
  /**
   * Bytes of one JSON object, without a line end. The first part of an event has all of its first 32 KiB. The next parts of the reader
   * take their place.
   */
  bytes: Buffer;
  isFirst: boolean;
  isLast: boolean;
}

/**
 * The events of jobs, in order. A process that takes a job begins a log of its own: the log of an earlier process may be on another host,
 * or torn.
 */
export interface JobLog {
  /** Begins the log of an attempt. Later events of the job are in it. */
  begin(id: string, attempt: number): Promise<void>;
  /** Appends events to the last log. Readers get them at once. */
  append(id: string, lines: readonly string[]): Promise<void>;
  /**
   * Reads the events after a place, and waits for more until the reader leaves or the job does. After a log comes the next one that is
   * here. Nothing is read before it is asked for, and at most 32 KiB at once.
   */
  read(id: string, after: LogPlace, signal: AbortSignal): AsyncIterable<LogPart[]>;
  /** Whether no event is torn at a place. In a log that is not here, any place is right, but for one after all logs that are. */
  isPlace(id: string, place: LogPlace): Promise<boolean>;
  /** The last event of the last log; undefined without one. A torn event at its end, which a crash has left, is removed. */
  last(id: string): Promise<LoggedEvent | undefined>;
  /** No further event follows soon. */
  release(id: string): Promise<void>;
  /** The job goes on elsewhere: its readers end. */
  leave(id: string): void;
}
