import { readFileSync, readdirSync } from 'node:fs';

const CLOSE_ON_EXEC = 0o2_000_000;
const FOLDER = '/proc/self/fdinfo';

/**
 * Descriptors above the standard streams that a child of this process would inherit. Node marks its own as closed on
 * exec, so these were open when this process was started, by a shell or a service manager, and may lead anywhere.
 */
export function inheritedDescriptors(): number[] {
  return namesIn(FOLDER)
    .map(Number)
    .filter((descriptor) => descriptor > 2 && isInherited(descriptor));
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // Not Linux, and so without a level that isolates.
    return [];
  }
}

function isInherited(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`${FOLDER}/${descriptor}`, 'latin1'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    // The one that listed the folder is closed again.
    return false;
  }
}
