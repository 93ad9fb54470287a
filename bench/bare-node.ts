import { spawn } from 'node:child_process';

/** Id of the baseline that {@link bareNode} is. */
export const BARE_NODE = 'node.bare';

/** Milliseconds that `node -e 1` takes, by the same Node and `child_process`. */
export async function bareNode(): Promise<number> {
  return await timedNode(['-e', '1']);
}

/** Milliseconds from the spawn of a Node with these arguments to its end. @throws Error when it fails */
export async function timedNode(args: readonly string[]): Promise<number> {
  const started = performance.now();
  const child = spawn(process.execPath, args, { stdio: 'ignore' });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  const taken = performance.now() - started;
  if (code !== 0) throw new Error(`Cannot measure node ${args.join(' ')}: it failed, got ${code}.`);
  return taken;
}
