import { spawn } from 'node:child_process';
import { SandboxManager } from '@anthropic-ai/sandbox-runtime';

/** Runs one-line programs one at a time, with the library of sandbox-runtime. */
export interface SandboxRuntimePeer extends AsyncDisposable {
  /** Milliseconds from the call until the program has ended. */
  sample(): Promise<number>;
}

/** Sets the library up without network and without writable paths. Returns the reason if it cannot be used. */
export async function startSandboxRuntime(): Promise<SandboxRuntimePeer | string> {
  if (!SandboxManager.isSupportedPlatform()) return 'it does not support this platform';
  const { errors } = SandboxManager.checkDependencies();
  if (errors.length > 0) return errors.join(', ');
  await SandboxManager.initialize({
    network: { allowedDomains: [], deniedDomains: [] },
    filesystem: { denyRead: [], allowWrite: [], denyWrite: [] },
  });
  return {
    async sample() {
      const started = performance.now();
      const command = await SandboxManager.wrapWithSandbox(`${process.execPath} -e 'console.log(42)'`);
      const child = spawn(command, { shell: true, stdio: 'ignore' });
      const code = await new Promise<number | null>((resolve, reject) =>
        child.once('error', reject).once('exit', resolve),
      );
      if (code !== 0) throw new Error(`Cannot measure sandbox-runtime: its program failed, got ${code}.`);
      return performance.now() - started;
    },
    [Symbol.asyncDispose]: () => SandboxManager.reset(),
  };
}
