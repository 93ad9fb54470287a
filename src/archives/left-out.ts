/** What systems and tools leave beside the files of people, or read by themselves. It is left out, and named. */
const NAMES: ReadonlySet<string> = new Set(['__MACOSX', '.DS_Store', '.git', 'node_modules', '.npmrc', '.env']);

/** Whether an entry of this path is left out, for its own name or that of a folder above it. */
export function isLeftOut(path: string): boolean {
  return path.split('/').some((part) => NAMES.has(part) || part.startsWith('._'));
}
