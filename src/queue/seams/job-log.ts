/** The place of an event in a log: the id is the number of bytes up to its end. */
export interface LoggedEvent {
  id: number;
  /** The beginning of its JSON, at most 32 KiB. */
  head: Buffer;
}

/** An event of a log, or a part of a long one. */
export interface LogPart {
  /** Id of the event. */
  id: number;
  /**
   * Bytes of one JSON object, without a line end. The first part of an event has all of its first 32 KiB. The next parts of the reader
   * take their place.
   */
  bytes: Buffer;
  isFirst: boolean;
  isLast: boolean;
}

/** The events of jobs, in order. */
export interface JobLog {
  /** Appends events. Readers get them at once. */
  append(id: string, lines: readonly string[]): Promise<void>;
  /**
   * Reads the events after an id, and waits for more until the reader leaves. Nothing is read before it is asked for, and at most 32 KiB at once.
   *
   * @param after 0, or the id of an event
   */
  read(id: string, after: number, signal: AbortSignal): AsyncIterable<LogPart[]>;
  /** Whether an id is 0 or that of an event. */
  isPlace(id: string, after: number): Promise<boolean>;
  /** The last event; undefined without one. A torn event at the end, which a crash has left, is removed. */
  last(id: string): Promise<LoggedEvent | undefined>;
  /** No further event follows soon. */
  release(id: string): Promise<void>;
}
