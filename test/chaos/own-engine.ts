import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import Client from 'dockerode';
import { callEngine } from '../../src/runners/docker/engine.ts';
import { isAlive } from '../fixtures/spawn-cli.ts';

/** An engine of a test's own, which the test may end, starve and start again. */
export interface OwnEngine extends AsyncDisposable {
  /** Its address, as `DOCKER_HOST` has it. */
  readonly host: string;
  readonly socket: string;
  readonly client: Client;
  /** The folder that it keeps everything in, as other processes reach it. */
  readonly dataFolder: string;
  start(): Promise<void>;
  stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  /** Copies an image from another engine. */
  takeImage(from: Client, name: string): Promise<void>;
}

/** Options of {@link createOwnEngine}. */
export interface OwnEngineOptions {
  /** Keeps everything in a file system of this size, in memory. Default: in a folder on the disk. */
  memoryMib?: number;
}

const PROGRAM = '/usr/sbin/dockerd';
const START_MS = 30_000;
/** An engine that was killed may find what is left of its own containerd once or twice. */
const STARTS = 3;

/** Why no engine of one's own can be started here; undefined where it can. */
export const NO_OWN_ENGINE: string | undefined =
  process.getuid?.() !== 0 ? 'only root can start an engine' : existsSync(PROGRAM) ? undefined : `no ${PROGRAM}`;

/**
 * Makes and starts an engine with folders of its own. It lives in network and mount namespaces of its own: a second engine
 * in the first one's would take its bridge away.
 */
export async function createOwnEngine({ memoryMib }: OwnEngineOptions = {}): Promise<OwnEngine> {
  const folder = mkdtempSync(join(tmpdir(), 'own-engine-'));
  const data = join(folder, 'data');
  const socket = join(folder, 'engine.sock');
  mkdirSync(data);
  // Holds the mount namespace, and with it a file system in memory, while the engine is down.
  const holder = spawn('unshare', ['--net', '--mount', '--', '/bin/sh', '-c', HOLD, 'sh', `${memoryMib ?? 0}`, data], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(holder.stdout, 'data');
  const client = new Client({ socketPath: socket });
  let daemon: ChildProcess | undefined;

  const startOnce = async (): Promise<boolean> => {
    const words = [
      ...['--data-root', data, '--exec-root', join(folder, 'exec'), '--pidfile', join(folder, 'engine.pid')],
      ...['--host', `unix://${socket}`, '--bridge', 'none', '--iptables=false', '--log-level', 'error'],
    ];
    const started = spawn('nsenter', ['--net', '--mount', `--target=${holder.pid}`, '--', PROGRAM, ...words], {
      stdio: ['ignore', 'ignore', 'ignore'],
    });
    daemon = started;
    const deadline = performance.now() + START_MS;
    while (started.exitCode === null && started.signalCode === null && performance.now() < deadline) {
      if (await answers(client)) return true;
      await pause(50);
    }
    return false;
  };

  const engine: OwnEngine = {
    host: `unix://${socket}`,
    socket,
    client,
    get dataFolder() {
      return `/proc/${holder.pid}/root${data}`;
    },
    async start() {
      for (let tries = 0; tries < STARTS; tries += 1) {
        if (await startOnce()) return;
        await engine.stop('SIGKILL');
      }
      throw new Error(`The engine did not start in ${STARTS} tries.`);
    },
    async stop(signal) {
      if (daemon === undefined || daemon.exitCode !== null || daemon.signalCode !== null) return;
      daemon.kill(signal);
      await once(daemon, 'exit');
    },
    async takeImage(from, name) {
      const archive = await from.getImage(name).get();
      const progress = await client.loadImage(archive, { quiet: true });
      for await (const part of progress) void part;
    },
    async [Symbol.asyncDispose]() {
      await engine.stop('SIGTERM');
      holder.stdin.end();
      await once(holder, 'exit');
      for (let tries = 0; tries < 100 && isAlive(holder.pid ?? 0); tries += 1) await pause(20);
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
  await engine.start();
  return engine;
}

/** Arguments: size in MiB or 0, folder. Lives until its standard input ends. */
const HOLD = `set -e
if [ "$1" != 0 ]; then mount -t tmpfs -o "size=$1m" tmpfs "$2"; fi
echo held; exec cat >/dev/null`;

async function answers(client: Client): Promise<boolean> {
  try {
    await callEngine('ask the engine', () => client.ping(), 1_000);
    return true;
  } catch {
    // Not yet, or no more.
    return false;
  }
}
