/** Key of the property of Node's `Module` at which the `skillcell` module of programs finds its process's link. */
export const BRIDGE: unique symbol = Symbol.for('skillcell.bridge');

/** The value of a program as the supervisor is told of it: JSON, the bytes of JSON that is too large, or why there is none. */
export type ToldProgramValue = { json: string | number } | { invalid: string };

/** A program that Node was held for, and its link to the supervisor. */
export interface HeldProgram {
  /** Descriptors of the link. */
  incoming: number;
  outgoing: number;
  /** Whether both descriptors are still those of the link: a program may have closed them, and opened files in their places. */
  isOpen(): boolean;
  /** Sends a message, whole; nothing happens where the link is closed. */
  send(message: object): void;
  /** Tells the value of the program. Where the link is closed, the file for values takes it. */
  tellValue(told: ToldProgramValue): void;
  /** Folder of the job's skills. */
  skills: string;
  /** Settings of the session that the program is to serve. */
  session?: unknown;
  /** Whether the program has set its value itself. */
  isValueSet?: boolean;
  /** The functions that the `skillcell` module stands on, once they are made. */
  bridge?: object;
  /** Makes them. */
  connect(): object;
}
