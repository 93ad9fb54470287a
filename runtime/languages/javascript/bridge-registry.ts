/** Key of the property of Node's `Module` where the program's `skillcell` module finds the link of its process. */
export const BRIDGE: unique symbol = Symbol.for('skillcell.bridge');

/** The report of a program's value: its JSON, the number of bytes where its JSON is too large, or the reason why it has no JSON. */
export type ToldProgramValue = { json: string | number } | { invalid: string };

/** The program that Node waited for, and its link to the supervisor. */
export interface HeldProgram {
  /** Descriptors of the link. */
  incoming: number;
  outgoing: number;
  /** Whether both descriptors still belong to the link: a program may close them and open files in their places. */
  isOpen(): boolean;
  /** Sends a whole message. A message to a closed link is dropped. */
  send(message: object): void;
  /** Reports the program's value. Where the link is closed, the value goes to the file that `SKILLCELL_VALUE` names. */
  tellValue(told: ToldProgramValue): void;
  /** Folder of the job's skills. */
  skills: string;
  /** Settings of the session that the program serves. */
  session?: unknown;
  /** Whether the program has set its value itself. */
  isValueSet?: boolean;
  /** The functions that the `skillcell` module uses, once `connect` has made them. */
  bridge?: object;
  /** Makes the functions of `bridge`. */
  connect(): object;
}
