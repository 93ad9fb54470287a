/**
 * The chunks of a stream, until it ends or the signal is aborted. Whoever leaves before its end cancels it, and it is locked no longer; one that
 * brings nothing, and does not take note of its cancel, holds nobody up.
 */
export async function* streamChunks<Chunk>(
  content: ReadableStream<Chunk>,
  signal: AbortSignal,
): AsyncGenerator<Chunk, void, undefined> {
  const reader = content.getReader();
  const cancel = (): void => void reader.cancel(signal.reason).catch(() => undefined);
  signal.addEventListener('abort', cancel, { once: true });
  if (signal.aborted) cancel();
  let isOver = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      isOver = done;
      if (done) return;
      yield value;
    }
  } finally {
    signal.removeEventListener('abort', cancel);
    if (!isOver) cancel();
    reader.releaseLock();
  }
}
