import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (options: { execution: 'async' }) => Promise<void>;
let collect: Collect | undefined;

/** Collects the garbage of this thread soon. Without it, V8 keeps tens of MiB of large buffers and texts that nothing refers to. */
export async function collectGarbage(): Promise<void> {
  collect ??= exposed();
  await collect({ execution: 'async' });
}

/** Contexts that are made after the flag have the function; the flag changes nothing else. */
function exposed(): Collect {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as Collect;
}
