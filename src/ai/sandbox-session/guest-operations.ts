/** The result of an operation inside. */
export interface GuestAnswer {
  said: object;
  bytes?: Uint8Array;
}

/** Operations inside, by name. */
export type GuestOperations = Record<string, (given: never) => GuestAnswer | Promise<GuestAnswer>>;

/** Context of operations. */
export interface GuestPorts {
  /** A path from the base, which is independent of the working folder of the session's code. */
  at(path: string): string;
  environment: NodeJS.ProcessEnv;
}
