import { constants } from 'node:os';

/** The end of a process. */
export interface ProcessEnd {
  code: number | null;
  signal: string | null;
}

/** The end behind a status of wait(2). */
export function endOfStatus(status: number): ProcessEnd {
  const signal = status & 0x7f;
  return signal === 0 ? { code: status >> 8, signal: null } : { code: null, signal: signalName(signal) };
}

/** The name of a signal; a real-time signal has its number. */
export function signalName(number: number): string {
  const found = Object.entries(constants.signals).find(([, value]) => value === number);
  return found?.[0] ?? `SIG${number}`;
}
