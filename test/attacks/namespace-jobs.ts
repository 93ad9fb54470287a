import { spawn } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { changedCommand, NAMESPACE_SPEC } from '../fixtures/changed-namespace.ts';
import { hostProcesses } from '../fixtures/sandbox-leftovers.ts';
import { attempts } from './plainly.ts';
import { asExpected, type NamespaceAttack } from './namespace-scene.ts';

const SMALL = { memoryMib: 128, workspaceMib: 32 };

/** Starts up to 300 waiting children, and prints the error that stopped it. */
const FORKS = `
import errno, os, time
stopped = None
for _ in range(300):
    try:
        if os.fork() == 0:
            time.sleep(20)
            os._exit(0)
    except OSError as error:
        stopped = errno.errorcode[error.errno]
        break
print(stopped, flush=True)
os._exit(3 if stopped else 0)
`;

const MEMORY = `
import sys, time
blocks = []
for _ in range(int(sys.argv[1])): blocks.append(bytearray(b'x') * 1048576)
time.sleep(3)
print('filled', flush=True)
`;

const ORDINARY = `
set -e
printf '#!/bin/sh\\necho run' >own && chmod 755 own && ./own
echo '{"seen":true}' >"$SKILLCELL_VALUE"
cat given.txt
pwd
python3 -c 'import os, ssl; print(len(os.urandom(4)))'
awk 'BEGIN { print "alternative" }'
readlink /etc/localtime
echo done >"$SKILLCELL_OUTPUT/result.txt"
touch /tmp/temporary /dev/shm/shared
`;

/** Attacks on a sandbox at level namespace that one change lets through, and the needs of an ordinary job. */
export const NAMESPACE_JOBS: readonly NamespaceAttack[] = [
  {
    id: 'A36',
    title: 'runs with everything that it needs or not at all',
    opens: [
      'outer --ro-bind /usr',
      'outer --reuid',
      'outer --uid',
      'outer --gid',
      'inner --unshare-user',
      'outer --cap-add CAP_SYS_ADMIN',
      'outer --cap-add CAP_SETFCAP',
      'inner --ro-bind /usr',
      'outer --ro-bind /opt/skillcell',
      'inner --ro-bind /opt/skillcell',
      'outer top folders',
      'inner top folders',
      'outer --symlink /etc/localtime',
      'outer --dir /workspace',
      'outer --dir /value',
      'outer --dir /inner/tmp',
      'outer --dir /inner/shm',
      'inner --json-status-fd',
    ],
    starts: true,
    async attempt({ job }) {
      const result = await job({
        language: 'bash',
        code: ORDINARY,
        files: [{ destination: 'given.txt', bytes: Buffer.from('given\n') }],
        expect: ['result.txt'],
        limits: { jobTimeoutMs: 6_000 },
      });
      return asExpected(
        {
          outcome: result.outcome,
          stdout: result.stdout.text,
          value: result.value,
          artifacts: result.artifacts.map(({ path }) => path),
        },
        {
          outcome: 'succeeded',
          stdout: 'run\ngiven\n/workspace\n4\nalternative\n/usr/share/zoneinfo/Etc/UTC\n',
          value: { seen: true },
          artifacts: ['result.txt'],
        },
      );
    },
  },
  {
    id: 'A28',
    title: 'sees only its own processes',
    opens: ['inner --unshare-pid'],
    async attempt({ report }) {
      const code = attempts('', {
        seen: '[content(f"/proc/{p}/cmdline").split("\\0")[0] for p in os.listdir("/proc") if p.isdigit()]',
      });
      return asExpected(await report(code), {
        seen: ['bwrap', '/usr/bin/perl', '/usr/bin/python3', '/usr/bin/python3'],
      });
    },
  },
  {
    id: 'A14',
    title: 'writes only into its own folders, and not over a device',
    opens: ['inner --remount-ro /', 'inner --remount-ro /dev'],
    async attempt({ report }) {
      const folders = ['/', '/dev', '/etc', '/usr', '/opt/skillcell', '/skills'];
      const code = attempts('', {
        ...Object.fromEntries(folders.map((folder) => [folder, `created("${folder}/attack")`])),
        own: 'created("/workspace/attack")',
      });
      return asExpected(await report(code), {
        ...Object.fromEntries(folders.map((folder) => [folder, 'EROFS'])),
        own: 'reached',
      });
    },
  },
  {
    id: 'B01',
    title: 'starts no more processes than it may',
    opens: ['group pids.max'],
    async attempt({ job }) {
      const { outcome, stdout } = await job({ code: FORKS, limits: { pids: 64 } });
      return asExpected({ outcome, stopped: stdout.text }, { outcome: 'limit', stopped: 'EAGAIN\n' });
    },
  },
  {
    id: 'B03',
    title: 'takes no more memory than it may',
    opens: ['group memory.limit_in_bytes'],
    async attempt({ job }) {
      const { outcome, stdout } = await job({ code: MEMORY, args: ['600'], limits: SMALL });
      return asExpected({ outcome, said: stdout.text }, { outcome: 'out_of_memory', said: '' });
    },
  },
  {
    id: 'B03',
    title: 'takes no more memory than it may, even if the kernel would also grant it the workspace’s share',
    opens: ['outer --ro-bind /sys/fs/cgroup'],
    async attempt({ job }) {
      const { outcome, stdout } = await job({ code: MEMORY, args: ['160'], limits: SMALL });
      return asExpected({ outcome, said: stdout.text }, { outcome: 'out_of_memory', said: '' });
    },
  },
  {
    id: 'F02',
    title: 'ends with the process that started it, without being told',
    opens: ['outer --die-with-parent'],
    async attempt({ changes }) {
      const words = await changedCommand(NAMESPACE_SPEC, changes, null);
      // The host dies at once, and the channel stays open: only the kernel can end the sandbox.
      const host = spawn('/bin/sh', ['-c', '"$@" & wait', 'sh', ...words], {
        env: {},
        stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
      });
      const channel = host.stdio[3] as Duplex;
      channel.on('error', () => undefined);
      await new Promise((resolve) => channel.once('data', resolve));
      const sandbox = below(host.pid ?? 0);
      process.kill(host.pid ?? 0, 'SIGKILL');
      let left = sandbox;
      for (let tries = 0; left.length > 0 && tries < 150; tries += 1) {
        await pause(20);
        const alive = new Set(hostProcesses().map(({ pid }) => pid));
        left = sandbox.filter((pid) => alive.has(pid));
      }
      channel.destroy();
      for (const pid of left) {
        try {
          process.kill(pid, 'SIGKILL');
        } catch {
          // It ended together with an earlier one.
        }
      }
      return asExpected({ seen: sandbox.length > 4, left: left.length }, { seen: true, left: 0 });
    },
  },
];

/** All descendants of a process. */
function below(root: number): number[] {
  const rows = hostProcesses();
  const found = new Set([root]);
  for (let size = 0; size !== found.size;) {
    size = found.size;
    for (const { pid, parent } of rows) if (found.has(parent)) found.add(pid);
  }
  found.delete(root);
  return [...found];
}
