import { constants } from 'node:os';

/** How a command ended, as the sandbox says. */
export interface CommandExit {
  code: number | null;
  signal: string | null;
}

/** The exit code as a shell gives it: of a command that a signal ended, 128 and the number of the signal. */
export function exitCodeOf({ code, signal }: CommandExit): number {
  if (code !== null) return code;
  return 128 + ((constants.signals as Record<string, number>)[signal ?? ''] ?? 0);
}
