import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { currentOwner, isDead, ownerName, parseOwnerName } from '../../../src/durable/owner.ts';
import { killProcess } from '../../fixtures/sandbox-leftovers.ts';

/** Bytes that a side of a link loses: those to the host, those from it, or both. */
export type Cut = 'in' | 'out' | 'both';

/** A machine of the cluster, as the network sees it: a network namespace. */
export interface NetworkHost {
  readonly address: string;
  /** The command and first arguments that run a program there. Control groups stay visible, unlike with `ip netns exec`. */
  readonly run: readonly [string, ...string[]];
  /** Loses all packets in a direction, silently, until they are let through. */
  cut(direction: Cut): void;
  mend(): void;
}

/** Network namespaces that meet on a bridge in one more namespace. */
export interface ClusterNetwork extends Disposable {
  join(name: string): NetworkHost;
  /** The living programs of a host. */
  programs(host: NetworkHost): string[];
}

const FOLDER = '/run/netns';
const PREFIX = 'skillcell-';
const TOOLS = ['/usr/sbin/ip', '/usr/sbin/tc', '/usr/bin/nsenter'] as const;
const [IP, TC, NSENTER] = TOOLS;

/** Creates the bridge, and removes the networks of dead processes. The first address is that of the first host. */
export function createNetwork(): ClusterNetwork {
  removeDeadNetworks();
  const prefix = `${PREFIX}${ownerName(currentOwner())}-`;
  const bridge = `${prefix}bridge`;
  const names = [bridge];
  run(IP, 'netns', 'add', bridge);
  run(IP, '-n', bridge, 'link', 'add', 'bridge', 'type', 'bridge');
  run(IP, '-n', bridge, 'link', 'set', 'bridge', 'up');
  return {
    join(name) {
      const own = `${prefix}${name}`;
      const port = `port${names.length}`;
      const address = `10.83.0.${names.length}`;
      names.push(own);
      run(IP, 'netns', 'add', own);
      run(IP, '-n', own, 'link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', port, 'netns', bridge);
      run(IP, '-n', bridge, 'link', 'set', port, 'master', 'bridge', 'up');
      run(IP, '-n', own, 'address', 'add', `${address}/24`, 'dev', 'eth0');
      for (const device of ['lo', 'eth0']) run(IP, '-n', own, 'link', 'set', device, 'up');
      /** The device whose outgoing packets are those of a direction. */
      const devices = { out: [own, 'eth0'], in: [bridge, port] } as const;
      const cutNow = new Set<'in' | 'out'>();
      return {
        address,
        run: [NSENTER, `--net=${FOLDER}/${own}`, '--'],
        cut(direction) {
          for (const each of direction === 'both' ? (['in', 'out'] as const) : [direction]) {
            run(TC, '-n', devices[each][0], 'qdisc', 'replace', 'dev', devices[each][1], 'root', 'blackhole');
            cutNow.add(each);
          }
        },
        mend() {
          for (const each of cutNow) run(TC, '-n', devices[each][0], 'qdisc', 'del', 'dev', devices[each][1], 'root');
          cutNow.clear();
        },
      };
    },
    programs({ run: [, where = ''] }) {
      const pids = run(IP, 'netns', 'pids', where.slice(where.lastIndexOf('/') + 1))
        .split('\n')
        .filter(Boolean);
      return pids.map(commandOf).filter(Boolean);
    },
    [Symbol.dispose]: () => names.toReversed().forEach(removeNamespace),
  };
}

/** Why no such network can be made here; undefined where it can. */
export function missingNetwork(): string | undefined {
  const tool = TOOLS.find((path) => !existsSync(path));
  if (tool !== undefined) return `${tool} (\`apt-get install iproute2 util-linux\`)`;
  try {
    using network = createNetwork();
    network.join('probe').cut('both');
    return undefined;
  } catch (error) {
    return `network namespaces: ${String((error as { stderr?: Buffer }).stderr ?? error).trim()}`;
  }
}

function removeDeadNetworks(): void {
  for (const name of existsSync(FOLDER) ? readdirSync(FOLDER) : []) {
    const owner = name.startsWith(PREFIX) ? parseOwnerName(name.slice(PREFIX.length)) : undefined;
    if (owner !== undefined && isDead(owner)) removeNamespace(name);
  }
}

/** A namespace lives on as long as its processes do. */
function removeNamespace(name: string): void {
  if (!existsSync(`${FOLDER}/${name}`)) return;
  const pids = run(IP, 'netns', 'pids', name).split('\n').filter(Boolean);
  for (const pid of pids) killProcess(Number(pid));
  run(IP, 'netns', 'delete', name);
}

/** Empty for a process that has ended. */
function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    // It ended after the listing.
    return '';
  }
}

function run(command: string, ...args: string[]): string {
  return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}
