/** What a driver does next: a call, the end of one, or nothing yet. */
export type Order = { call: { id: number; tool: string; args: unknown } } | { cancel: number } | null;

/** Orders for one driver, which asks for them one at a time. */
export interface SkillOrders {
  put(order: Order): void;
  /** The next order, as soon as there is one; null when another asks for it meanwhile, or nobody waits any more. */
  next(signal: AbortSignal): Promise<Order>;
}

/** Creates an empty list of orders. */
export function createSkillOrders(): SkillOrders {
  const waiting: Order[] = [];
  let take: ((order: Order) => void) | undefined;
  return {
    put(order) {
      if (take === undefined) waiting.push(order);
      else take(order);
    },
    next(signal) {
      take?.(null);
      const first = waiting.shift();
      if (first !== undefined) return Promise.resolve(first);
      return new Promise((resolve) => {
        const give = (order: Order): void => {
          if (take === give) take = undefined;
          signal.removeEventListener('abort', leave);
          resolve(order);
        };
        const leave = (): void => give(null);
        take = give;
        signal.addEventListener('abort', leave, { once: true });
      });
    },
  };
}
