import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { SandboxManager } from '@anthropic-ai/sandbox-runtime';

/** Runs one-line programs one at a time, with the library of sandbox-runtime. */
export interface SandboxRuntimePeer extends AsyncDisposable {
  /** Milliseconds from the call until the program has ended. */
  sample(): Promise<number>;
}

/** The reason why it cannot be used here; undefined if it can. */
export function missingForSandboxRuntime(): string | undefined {
  if (!SandboxManager.isSupportedPlatform()) return 'it does not support this platform';
  const { errors } = SandboxManager.checkDependencies();
  return errors.length > 0 ? errors.join(', ') : undefined;
}

/** Sets the library up without network and without writable paths. Returns the reason if it cannot be used. */
export async function startSandboxRuntime(): Promise<SandboxRuntimePeer | string> {
  const missing = missingForSandboxRuntime();
  if (missing !== undefined) return missing;
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

/**
 * Runs a program of Node with the command line of sandbox-runtime, whose proxy reads the requests of TLS as well. Returns the program's stdout.
 *
 * @param host the address that the program may reach
 * @param caFile certificate of the host's authority
 */
export async function runInSandboxRuntime(program: string, host: string, caFile: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-'));
  try {
    const settings = {
      network: { allowedDomains: [host], deniedDomains: [], tlsTerminate: {} },
      filesystem: { denyRead: [], allowWrite: [], denyWrite: [] },
    };
    await writeFile(join(folder, 'settings.json'), JSON.stringify(settings));
    await writeFile(join(folder, 'program.mjs'), program);
    const cli = fileURLToPath(new URL('cli.js', import.meta.resolve('@anthropic-ai/sandbox-runtime')));
    // Its own NO_PROXY excludes this machine's addresses.
    const command = `NO_PROXY= no_proxy= NODE_USE_ENV_PROXY=1 ${process.execPath} program.mjs`;
    const child = spawn(process.execPath, [cli, '--settings', 'settings.json', '-c', command], {
      cwd: folder,
      env: { ...process.env, NODE_EXTRA_CA_CERTS: caFile },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [printed, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
    if (code !== 0) throw new Error(`Cannot measure sandbox-runtime: its program failed, got ${code}.`);
    return printed;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
