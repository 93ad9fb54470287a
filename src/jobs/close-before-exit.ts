/** What is still open, to be closed when the process has nothing left to do. */
const open = new Set<() => Promise<void>>();

function closeAll(): void {
  for (const close of open) void close();
}

/**
 * Closes something when the process would end by itself: what waits keeps no process alive, and is not left behind either. A
 * process that is ended otherwise leaves it to the sweep of the next one.
 *
 * @returns takes it back, because it is closed
 */
export function closeBeforeExit(close: () => Promise<void>): () => void {
  if (open.size === 0) process.on('beforeExit', closeAll);
  open.add(close);
  return () => {
    open.delete(close);
    if (open.size === 0) process.off('beforeExit', closeAll);
  };
}
