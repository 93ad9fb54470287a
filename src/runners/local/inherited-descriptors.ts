import { readFileSync, readdirSync } from 'node:fs';

const CLOSE_ON_EXEC = 0o2000000;

let known: number[] | undefined;

/**
 * Descriptors above 3 that every child of this process would get: those that its own parent left open. Node closes what
 * it opens itself, and only the lowest of what it was handed. Found out once; nothing adds to them later.
 */
export function inheritedDescriptors(): number[] {
  known ??= process.platform === 'linux' ? findInherited() : [];
  return known;
}

function findInherited(): number[] {
  return readdirSync('/proc/self/fdinfo')
    .map(Number)
    .filter((descriptor) => descriptor > 3 && !closesOnExec(descriptor));
}

function closesOnExec(descriptor: number): boolean {
  try {
    const flags = /^flags:\s+(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1'))?.[1];
    return flags === undefined || (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) !== 0;
  } catch {
    // The descriptor of the listing itself is closed by now.
    return true;
  }
}
