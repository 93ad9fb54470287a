import { rmSync, statSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { SandboxSpec } from '../../src/sandboxes/runner.ts';
import { DEFAULT_LIMITS } from '../../src/contracts/jobs/limits.ts';
import { LABEL } from '../../src/sandboxes/docker/container-options.ts';
import { createDockerRunner } from '../../src/sandboxes/docker/docker-runner.ts';
import { dockerImage } from '../fixtures/docker-image.ts';
import { startQuietClock } from '../fixtures/quiet-clock.ts';
import { startRaw } from '../fixtures/raw-container.ts';
import { until } from '../fixtures/until.ts';
import { allRefused, type ContainerAttack } from './container-scene.ts';
import { attempts } from './plainly.ts';

/** The evidence if the container no longer exists. */
const UNKNOWN = 'nothing is known of it';

/** The specification of a sandbox that a test starts without a job. */
export const SPEC: SandboxSpec = { isolation: 'container', language: 'javascript', limits: { ...DEFAULT_LIMITS } };

/** A start time in this boot's own namespace that no living process has. */
const DEAD_START_TIME = '1';

const ORDINARY = `
set -e
printf '#!/bin/sh\\necho run' >own && chmod 755 own && ./own
echo '{"seen":true}' >"$SKILLCELL_VALUE"
cat given.txt
echo done >"$SKILLCELL_OUTPUT/result.txt"
printf '#!/bin/sh\\n' >/tmp/own && chmod 755 /tmp/own && /tmp/own
`;

/** Attacks and faults from a container's start to its removal, and the needs of an ordinary job. */
export const LIFE_ATTACKS: readonly ContainerAttack[] = [
  {
    id: 'A36',
    title: 'runs with everything that it needs or not at all',
    opens: [
      'User 0:0',
      'CapAdd SETUID',
      'CapAdd SETGID',
      'tmpfs /workspace',
      'tmpfs /workspace exec',
      'tmpfs /workspace uid, gid',
      'tmpfs /value',
      'tmpfs /value uid, gid',
      'tmpfs /tmp',
      'tmpfs /tmp exec',
      'Tty false',
    ],
    async attempt({ job }) {
      let seen: string;
      try {
        const result = await job({
          language: 'bash',
          code: ORDINARY,
          files: [{ destination: 'given.txt', bytes: Buffer.from('given\n') }],
          expect: ['result.txt'],
          limits: { jobTimeoutMs: 5_000 },
        });
        seen = `${result.outcome} ${JSON.stringify(result.stdout.text)} ${JSON.stringify(result.value)} ${result.artifacts.map((row) => row.path).join()}`;
        // A folder of the image in place of a mount belongs to another user, or is not writable at all.
      } catch (error) {
        seen = `${(error as { code?: string }).code}`;
      }
      return { blocked: seen === 'succeeded "run\\ngiven\\n" {"seen":true} result.txt', evidence: seen };
    },
  },
  {
    id: 'A31',
    title: 'has its own temporary folder',
    opens: ['tmpfs /tmp uid, gid', 'tmpfs /tmp'],
    async attempt({ report }) {
      return allRefused(
        await report(attempts('', { owner: 'str(os.stat("/tmp").st_uid)', kind: 'str(os.path.ismount("/tmp"))' })),
        /^(10002|True)$/,
      );
    },
  },
  {
    id: 'L06',
    title: 'gets its skills on a separate mount with limits of size and files, where programs run',
    opens: ['tmpfs /skills', 'tmpfs /skills size', 'tmpfs /skills nr_inodes', 'tmpfs /skills exec'],
    async attempt({ report }) {
      const code = attempts('', {
        mount: 'str(os.path.ismount("/skills"))',
        size: 'str((lambda s: s.f_blocks * s.f_frsize <= 72 * 2 ** 20)(os.statvfs("/skills")))',
        files: 'str(0 < os.statvfs("/skills").f_files <= 32768)',
        programs: 'str(not os.statvfs("/skills").f_flag & 8)',
      });
      return allRefused(await report(code), /^True$/);
    },
  },
  {
    id: 'A30',
    title: 'passes no data to a concurrent or later job',
    opens: ['IpcMode private'],
    async attempt({ job, report }) {
      const token = `attack-token-${process.pid}`;
      const leave = attempts('', {
        shm: `open("/dev/shm/${token}", "w").write("token") and None`,
        tmp: `open("/tmp/${token}", "w").write("token") and None`,
        workspace: `open("${token}", "w").write("token") and None`,
        queue: `os.close(os.open("/dev/mqueue/${token}", os.O_CREAT | os.O_RDWR))`,
        segment: 'called(min(libc.shmget(0x5ce12, 4096, 0o1600), 0))',
      });
      const find = attempts('', {
        shm: `content("/dev/shm/${token}")`,
        tmp: `content("/tmp/${token}")`,
        workspace: `content("${token}")`,
        queue: `content("/dev/mqueue/${token}")`,
        segment: 'called(min(libc.shmget(0x5ce12, 4096, 0), 0))',
        host: `content("/dev/shm/host-${token}")`,
        locked: '__import__("fcntl").flock(os.open("/usr/bin/python3", os.O_RDONLY), 6) or "ENOENT"',
      });
      writeFileSync(`/dev/shm/host-${token}`, 'token');
      try {
        const first = job({
          code: `${leave}\nheld = os.open('/usr/bin/python3', os.O_RDONLY)\n__import__('fcntl').flock(held, 2)\nsys.stdout.flush()\ntime.sleep(1)`,
        });
        await pause(600);
        const beside = await report(find);
        const left = JSON.parse((await first).stdout.text) as Record<string, unknown>;
        const after = await report(find);
        const both = allRefused(
          { ...beside, ...Object.fromEntries(Object.entries(after).map(([name, value]) => [`${name} after`, value])) },
          /^(ENOENT|EPERM|EINVAL)$/,
        );
        return { ...both, blocked: both.blocked && left['shm'] === 'reached' && left['tmp'] === 'reached' };
      } finally {
        // Objects of the host stay until they are removed.
        await job({
          code: `import os\nfor path in ('/dev/shm/${token}', '/dev/mqueue/${token}'):\n    try: os.unlink(path)\n    except OSError: pass`,
        });
        for (const name of [token, `host-${token}`]) rmSync(`/dev/shm/${name}`, { force: true });
      }
    },
  },
  {
    id: 'C07',
    title: 'writes nothing to the host’s disk with its output',
    opens: ['LogConfig none'],
    async attempt({ job, inspected }) {
      let runs = true;
      const running = job({ language: 'bash', code: 'head -c 200000 /dev/zero; sleep 1' });
      const stop = (): void => void (runs = false);
      running.then(stop, stop);
      let seen = 0;
      let most = 0;
      while (runs) {
        for (const { LogPath: path } of await inspected()) {
          seen += 1;
          if (path !== '') most = Math.max(most, statSync(path, { throwIfNoEntry: false })?.size ?? 0);
        }
        await pause(50);
      }
      await running;
      return {
        blocked: seen > 0 && most === 0,
        evidence: `${most > 200_000 ? 'more than 200,000' : most} bytes in the engine's log of it`,
      };
    },
  },
  {
    id: 'F03',
    title: 'ends within a second of its host, and does not come back',
    opens: ['StdinOnce', 'RestartPolicy no'],
    async attempt({ options }) {
      await using raw = await startRaw(options(SPEC));
      await raw.ready;
      raw.attached.destroy();
      const look = async () => (await raw.container.inspect()).State;
      const elapsedMs = startQuietClock();
      await lookFor(async () => !(await look()).Running, 10_000);
      const tookMs = elapsedMs();
      await pause(1_000);
      const state = await look();
      return {
        blocked: tookMs < 1_000 && !state.Running && !state.Restarting && state.ExitCode === 0,
        evidence: `${state.Status} ${tookMs < 1_000 ? 'within' : 'after more than'} a second`,
      };
    },
  },
  {
    id: 'F02',
    title: 'is removed by the sweep when its owner is dead',
    opens: ['Labels'],
    async attempt({ options }) {
      const { engine } = await dockerImage();
      const asked = options(SPEC);
      const owner = asked.Labels?.[LABEL.owner];
      if (asked.Labels !== undefined && owner !== undefined)
        asked.Labels[LABEL.owner] = owner.replace(/\d+$/, DEAD_START_TIME);
      await using raw = await startRaw(asked);
      await using sweeper = createDockerRunner();
      await sweeper.sweep();
      const left = await engine.listContainers({ all: true, filters: { id: [raw.container.id] } });
      return { blocked: left.length === 0, evidence: left.length === 0 ? 'removed' : 'still there' };
    },
  },
  {
    id: 'F13',
    title: 'reports its exit status before it is removed',
    opens: ['AutoRemove false'],
    async attempt({ options }) {
      await using raw = await startRaw(options(SPEC));
      await raw.ready;
      const ended = raw.container.wait();
      raw.attached.destroy();
      await ended;
      const look = (): Promise<string> =>
        raw.container.inspect().then(
          ({ State }) => `exit code ${State.ExitCode}, out of memory ${State.OOMKilled}`,
          () => UNKNOWN,
        );
      await lookFor(async () => (await look()) === UNKNOWN, 2_000);
      const state = await look();
      return { blocked: state === 'exit code 0, out of memory false', evidence: state };
    },
  },
];

/** Waits until a condition holds, for at most `mostMs`. */
async function lookFor(holds: () => Promise<boolean>, mostMs: number): Promise<void> {
  await until(holds, 'the condition of the case', mostMs).catch(() => undefined);
}
