import type Docker from 'dockerode';
import { callEngine } from './engine.ts';

/** The fields of the engine's statistics that matter here: `inactive_file` in version 2 of control groups, else the other. */
interface MemoryStatistics {
  memory_stats?: { usage?: number; stats?: { inactive_file?: number; total_inactive_file?: number } };
}

/** The memory that a container holds now, counted as the engine's own command line does. Null when it has ended. */
export async function containerMemory(container: Docker.Container): Promise<number | null> {
  try {
    const { memory_stats: memory } = (await callEngine('read the memory of a container', (abortSignal) =>
      // Once, without the second that a rate of the processor's time would take; its types do not know that word.
      container.stats({ stream: false, 'one-shot': true, abortSignal } as { stream: false }),
    )) as unknown as MemoryStatistics;
    if (memory?.usage === undefined) return null;
    const { inactive_file, total_inactive_file } = memory.stats ?? {};
    return Math.max(0, memory.usage - (total_inactive_file ?? inactive_file ?? 0));
  } catch {
    // It ended meanwhile, or the engine does not answer: the number is then unknown.
    return null;
  }
}
