/** Functions that close open resources when the process has nothing left to do. */
const open = new Set<() => Promise<void>>();

function closeAll(): void {
  for (const close of open) void close();
}

/**
 * Calls `close` when the process would exit by itself: waiting sandboxes do not keep the process alive, but must not be left behind.
 * After any other end of the process, the sweep of the next host cleans up.
 *
 * @returns a function that removes `close`, for a resource that its owner has closed
 */
export function closeBeforeExit(close: () => Promise<void>): () => void {
  if (open.size === 0) process.on('beforeExit', closeAll);
  open.add(close);
  return () => {
    open.delete(close);
    if (open.size === 0) process.off('beforeExit', closeAll);
  };
}
