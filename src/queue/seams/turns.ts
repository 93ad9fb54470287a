/** Runs work of one name one after the other. */
export function createTurns(): <Result>(name: string, work: () => Promise<Result>) => Promise<Result> {
  const last = new Map<string, Promise<unknown>>();
  return (name, work) => {
    const turn = (last.get(name) ?? Promise.resolve()).then(work, work);
    const forget = (): void => {
      if (last.get(name) === turn) last.delete(name);
    };
    last.set(name, turn);
    turn.then(forget, forget);
    return turn;
  };
}
