import { accessSync, constants } from 'node:fs';

/** Whether this process may run a file. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // The exception is the answer.
    return false;
  }
}
