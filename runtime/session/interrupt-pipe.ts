import { chmodSync, closeSync, constants, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { makeFifos } from '../run/program-pipes.ts';
import type { Privileges } from '../sandbox/privileges.ts';
import type { SandboxLayout } from '../sandbox/sandbox-layout.ts';

/** What tells a thread of an interpreter that its main thread has to stop: that one may be in a loop, and hears of nothing. */
export interface InterruptPipe {
  /** As user code sees it, which may read it only. */
  path: string;
  interrupt(): void;
  close(): void;
}

/** Makes the pipe, in the folder of skills, which user code cannot write to. */
export function createInterruptPipe({ level, skills }: SandboxLayout, privileges: Privileges): InterruptPipe {
  return privileges.asSupervisor(() => {
    const folder = mkdtempSync(join(skills, '.interrupt-'));
    chmodSync(folder, 0o755);
    const path = join(folder, 'pipe');
    makeFifos([path], level, privileges);
    chmodSync(path, 0o644);
    // Open for reading as well: there is always a reader, and the thread sees no end.
    const descriptor = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
    return {
      path,
      interrupt: () => void writeSync(descriptor, '!'),
      close() {
        closeSync(descriptor);
        privileges.asSupervisor(() => rmSync(folder, { recursive: true, force: true }));
      },
    };
  });
}
