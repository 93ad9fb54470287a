/** What came of an operation inside. */
export interface GuestAnswer {
  said: object;
  bytes?: Uint8Array;
}

/** What is done inside, by name. */
export type GuestOperations = Record<string, (given: never) => GuestAnswer | Promise<GuestAnswer>>;

/** What operations need. */
export interface GuestPorts {
  /** A path from the base, which stays whatever the session's code makes its working folder. */
  at(path: string): string;
  environment: NodeJS.ProcessEnv;
}
