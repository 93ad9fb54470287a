import { type FSWatcher, watch } from 'node:fs';

/**
 * Calls whenever something below a folder may have changed. A folder that cannot be watched is never heard of, nor is one that is made later.
 *
 * @param folder absolute path
 */
export function watchFolder(folder: string, hint: () => void): Disposable {
  let watcher: FSWatcher | undefined;
  try {
    watcher = watch(folder, { recursive: true, persistent: false }, hint);
    // Too many watches, or a folder that went away: whoever waits for hints looks by itself now and then.
    watcher.on('error', hint);
  } catch {
    // As above.
  }
  return { [Symbol.dispose]: () => watcher?.close() };
}
