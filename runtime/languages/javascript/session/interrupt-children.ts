import { readdirSync, readFileSync } from 'node:fs';

/** Interrupts the child processes of this process, and their descendants, as a terminal does at Ctrl-C. */
export function interruptChildren(): void {
  const parents = readParents();
  for (const pid of parents.keys()) {
    if (!descends(pid, parents)) continue;
    try {
      process.kill(pid, 'SIGINT');
    } catch {
      // The process has ended meanwhile.
    }
  }
}

/** The parent of each process; empty on a system without this table. */
function readParents(): Map<number, number> {
  const parents = new Map<number, number>();
  for (const name of listed('/proc')) {
    const status = /^\d+$/.test(name) ? text(`/proc/${name}/stat`) : '';
    // The program name is in parentheses, and may itself contain parentheses.
    const parent = /^ \S (\d+)/.exec(status.slice(status.lastIndexOf(')') + 1))?.[1];
    if (parent !== undefined) parents.set(Number(name), Number(parent));
  }
  return parents;
}

function descends(pid: number, parents: ReadonlyMap<number, number>): boolean {
  let parent = parents.get(pid);
  for (let steps = 0; parent !== undefined && steps < parents.size; steps += 1) {
    if (parent === process.pid) return true;
    parent = parents.get(parent);
  }
  return false;
}

function listed(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function text(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // The process has ended.
    return '';
  }
}
