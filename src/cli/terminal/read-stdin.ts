import type { CliIo } from './cli-io.ts';
import { unreadable } from './input-file.ts';
import type { Interruption } from './interruption.ts';

/**
 * Reads this command's standard input to its end.
 *
 * @param about the purpose of the input, for messages
 * @param limit bytes
 * @throws SkillcellError `file.unreadable` when the input is longer; the reason of the interruption when it comes first
 */
export async function readStdin(about: string, limit: number, io: CliIo, interruption: Interruption): Promise<Buffer> {
  const { stdin } = io;
  const chunks: Buffer[] = [];
  let bytes = 0;
  const stop = (): void => void stdin.destroy();
  interruption.signal.throwIfAborted();
  interruption.signal.addEventListener('abort', stop, { once: true });
  try {
    for await (const chunk of stdin) {
      const piece = Buffer.from(chunk as Uint8Array);
      bytes += piece.length;
      if (bytes > limit) throw unreadable(about, `it may have ${limit} bytes and has more`, '-');
      chunks.push(piece);
    }
  } catch (error) {
    interruption.signal.throwIfAborted();
    throw error;
  } finally {
    interruption.signal.removeEventListener('abort', stop);
  }
  interruption.signal.throwIfAborted();
  return Buffer.concat(chunks);
}
