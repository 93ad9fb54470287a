import type { SkillStore } from '../contracts/skills/store.ts';

/** Hints within this time count as one. */
const SETTLE_MS = 100;

/**
 * Looks when a store hints at a change, and at intervals, as hints may be missed. Looks never overlap; a hint during a look causes another one.
 *
 * @param look never rejects
 */
export function watchStores(stores: readonly SkillStore[], intervalMs: number, look: () => Promise<void>): Disposable {
  let timer: NodeJS.Timeout | undefined;
  let isLooking = false;
  let isHinted = false;
  let isOver = false;

  const schedule = (ms: number): void => {
    clearTimeout(timer);
    if (!isOver && ms > 0) timer = setTimeout(() => void lookOnce(), ms).unref();
  };
  const lookOnce = async (): Promise<void> => {
    isLooking = true;
    isHinted = false;
    await look();
    isLooking = false;
    schedule(isHinted ? SETTLE_MS : intervalMs);
  };
  const hint = (): void => {
    if (isHinted) return;
    isHinted = true;
    if (!isLooking) schedule(SETTLE_MS);
  };

  const watches = stores.map((store) => store.watch?.(hint));
  schedule(intervalMs);
  return {
    [Symbol.dispose]() {
      isOver = true;
      clearTimeout(timer);
      for (const watch of watches) watch?.[Symbol.dispose]();
    },
  };
}
