import { spawn } from 'node:child_process';

/** Id of the baseline measured by {@link bareNode}. */
export const BARE_NODE = 'node.bare';
/** Id of the baseline measured by {@link barePython}. */
export const BARE_PYTHON = 'python.bare';

/** Milliseconds of `node -e 1`, with the same Node and `child_process`. */
export async function bareNode(): Promise<number> {
  return await timedNode(['-e', '1']);
}

/** Milliseconds from the spawn of a Node with these arguments to its end. @throws Error when it fails */
export async function timedNode(args: readonly string[], cwd?: string): Promise<number> {
  return await timedCommand(process.execPath, args, cwd);
}

/** Milliseconds of `python3 -c 1`, with the interpreter of sandboxes. */
export async function barePython(): Promise<number> {
  return await timedCommand('/usr/bin/python3', ['-c', '1']);
}

/** Milliseconds from the spawn of a command to its end. @throws Error when it fails */
export async function timedCommand(command: string, args: readonly string[], cwd?: string): Promise<number> {
  const started = performance.now();
  const child = spawn(command, args, { stdio: 'ignore', cwd });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  const taken = performance.now() - started;
  if (code !== 0) throw new Error(`Cannot measure ${command} ${args.join(' ')}: it failed, got ${code}.`);
  return taken;
}
