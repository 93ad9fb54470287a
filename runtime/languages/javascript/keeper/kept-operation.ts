/** An operation under way in the process that keeps the files and commands of a session. */
export interface KeptOperation {
  /** Takes the next bytes of its input. A promise withholds the bytes after them. */
  bytes?(chunk: Buffer): void | Promise<void>;
  /** Its input is over. */
  end?(): void;
  /** The supervisor has passed on bytes of an output. */
  taken(output: number, bytes: number): void;
  /** Its caller has left. */
  drop(): void;
}
