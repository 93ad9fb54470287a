/** An event of a log, in its place: the id is the number of bytes up to its end. */
export interface LoggedEvent {
  id: number;
  /** One JSON object, without a line end. */
  line: string;
}

/** The events of jobs, in order. */
export interface JobLog {
  /** Appends events. Readers get them at once. */
  append(id: string, lines: readonly string[]): Promise<void>;
  /**
   * Reads the events after an id, and waits for more until the reader leaves.
   *
   * @param after 0, or the id of an event
   */
  read(id: string, after: number, signal: AbortSignal): AsyncIterable<LoggedEvent>;
  /** Whether an id is 0 or that of an event. */
  isPlace(id: string, after: number): Promise<boolean>;
  /** The last event; undefined without one. A torn event at the end, which a crash has left, is removed. */
  last(id: string): Promise<LoggedEvent | undefined>;
  /** No further event follows soon. */
  release(id: string): Promise<void>;
}
