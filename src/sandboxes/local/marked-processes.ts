import { readFileSync, readdirSync } from 'node:fs';

const MARK = 'SKILLCELL_JOB_MARK=';

/** Processes of jobs at level none with a fitting mark. The mark is the name of the sandbox, which begins with its owner. */
export function markedProcesses(fits: (mark: string) => boolean): number[] {
  const found: number[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    let environment: string;
    try {
      environment = readFileSync(`/proc/${name}/environ`, 'latin1');
    } catch {
      // The process belongs to another user or has just ended.
      continue;
    }
    const mark = environment.split('\0').find((entry) => entry.startsWith(MARK));
    if (mark !== undefined && fits(mark.slice(MARK.length))) found.push(Number(name));
  }
  return found;
}

/** Kills the marked processes of one sandbox for up to a second, in several rounds: one round can miss a new child. */
export async function killMarkedProcesses(mark: string): Promise<void> {
  const deadline = performance.now() + 1_000;
  for (;;) {
    const left = markedProcesses((found) => found === mark);
    if (left.length === 0 || performance.now() > deadline) return;
    for (const pid of left) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended already.
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
