import { hostname } from 'node:os';
import type { ContainerInspectInfo } from 'dockerode';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../../src/contracts/jobs/limits.ts';
import { languageNames } from '../../../src/languages/languages.ts';
import { containerOptions, LABEL } from '../../../src/sandboxes/docker/container-options.ts';
import { createDockerRunner } from '../../../src/sandboxes/docker/docker-runner.ts';
import { currentOwner, ownerName } from '../../../src/durable/owner.ts';
import type { Runner, Sandbox, SandboxSpec } from '../../../src/sandboxes/runner.ts';
import { seccompEngineProfile } from '../../../src/sandboxes/seccomp/seccomp-engine-profile.ts';
import { dockerImage, dockerTest, MISSING_ENGINE } from '../../fixtures/docker-image.ts';
import { listOwnContainers } from '../../fixtures/own-containers.ts';

const MIB = 1024 * 1024;
const LIMITS = { memoryMib: 300, cpus: 1.5, pids: 50, workspaceMib: 40, workspaceInodes: 2_000 };
const SPEC: SandboxSpec = { isolation: 'container', language: 'python', limits: LIMITS };

let runner: Runner;
let sandbox: Sandbox;
let seen: ContainerInspectInfo;
let image: string;

beforeAll(async () => {
  if (MISSING_ENGINE !== undefined) return;
  const made = await dockerImage();
  image = made.image;
  runner = createDockerRunner({ bundle: made.bundle });
  process.env['ATTACK_SECRET_TOKEN'] = 'canary-of-the-host';
  sandbox = await runner.start(SPEC, { signal: new AbortController().signal });
  const [row] = await listOwnContainers();
  seen = await made.engine.getContainer(row?.Id ?? '').inspect();
});
afterAll(async () => {
  delete process.env['ATTACK_SECRET_TOKEN'];
  await sandbox?.kill('the tests are over');
  await runner?.close();
});

/** Checks the engine's report of a container of the runner. It must hold for every request. */
function line(name: string, check: () => void | Promise<void>): void {
  dockerTest(name, {}, async () => await check());
}

/** HostConfig, with the fields that the types of the client lack. */
function config(): Record<string, unknown> {
  return seen.HostConfig as unknown as Record<string, unknown>;
}

function nothing(value: unknown): boolean {
  if (value === null || value === undefined || value === '' || value === false) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

describe('A33 a container of the runner', () => {
  line('has no network', () => {
    expect(config()['NetworkMode']).toBe('none');
    expect(seen.Config).toMatchObject({ NetworkDisabled: true });
    for (const network of Object.values(seen.NetworkSettings.Networks)) {
      expect([network.IPAddress, network.Gateway, network.GlobalIPv6Address]).toEqual(['', '', '']);
    }
    expect(seen.NetworkSettings.Ports).toEqual({});
  });

  line('starts as uid 0 with exactly the four capabilities of the supervisor, and cannot gain more', () => {
    expect(seen.Config.User).toBe('0:0');
    expect(config()['Privileged']).toBe(false);
    expect(config()['CapDrop']).toEqual(['ALL']);
    expect((config()['CapAdd'] as string[]).map((name) => name.replace('CAP_', '')).toSorted()).toEqual([
      'KILL',
      'SETGID',
      'SETPCAP',
      'SETUID',
    ]);
    expect(config()['SecurityOpt']).toContain('no-new-privileges');
  });

  line('has skillcell’s seccomp profile, and the engine’s AppArmor profile if there is one', async () => {
    const options = config()['SecurityOpt'] as string[];
    const profile = options.find((option) => option.startsWith('seccomp='));
    expect(JSON.parse(profile?.slice('seccomp='.length) ?? '')).toEqual(seccompEngineProfile());
    expect(seccompEngineProfile().defaultAction).toBe('SCMP_ACT_ERRNO');
    const rest = options.filter((option) => option !== profile && option !== 'no-new-privileges');
    const { report } = await dockerImage();
    expect(rest).toEqual(report.appArmor ? ['apparmor=docker-default'] : []);
  });

  line('shares no namespace with the host or another container', () => {
    expect(config()['IpcMode']).toBe('private');
    for (const name of ['PidMode', 'UTSMode', 'UsernsMode', 'CgroupParent', 'Cgroup'])
      expect(config()[name], name).toBe('');
    expect(['private', 'host']).toContain(config()['CgroupnsMode']);
  });

  line('has a read-only root and no file of the host', () => {
    expect(config()['ReadonlyRootfs']).toBe(true);
    for (const name of [
      'Binds',
      'Mounts',
      'VolumesFrom',
      'Devices',
      'DeviceRequests',
      'DeviceCgroupRules',
      'Links',
      'ExtraHosts',
      'PortBindings',
      'Dns',
      'DnsSearch',
      'DnsOptions',
      'GroupAdd',
      'Sysctls',
      'StorageOpt',
      'ContainerIDFile',
      'VolumeDriver',
      'PublishAllPorts',
    ]) {
      expect(nothing(config()[name]), name).toBe(true);
    }
    expect(seen.Mounts).toEqual([]);
    expect(nothing(seen.Config.Volumes)).toBe(true);
  });

  line('writes only into tmpfs with a limited size and number of files, without devices and setuid', () => {
    const tmpfs = config()['Tmpfs'] as Record<string, string>;
    expect(Object.keys(tmpfs).toSorted()).toEqual(['/skills', '/tmp', '/value', '/workspace']);
    let sum = config()['ShmSize'] as number;
    for (const [path, text] of Object.entries(tmpfs)) {
      const options = text.split(',');
      expect(options, path).toEqual(expect.arrayContaining(['rw', 'nosuid', 'nodev']));
      expect(text, path).toMatch(/,nr_inodes=[1-9]\d*,uid=[1-9]\d*,gid=[1-9]\d*$/);
      sum += Number(/size=(\d+)/.exec(text)?.[1] ?? Number.NaN);
    }
    expect(tmpfs['/workspace']).toMatch(new RegExp(`exec,size=${40 * MIB},nr_inodes=2000,uid=10002,gid=10002`));
    expect(tmpfs['/tmp']).toMatch(new RegExp(`exec,size=${40 * MIB},nr_inodes=2000,uid=10002,gid=10002`));
    expect(tmpfs['/skills']).toContain('uid=10001,gid=10001');
    expect(tmpfs['/value']).toContain('noexec');
    expect(sum).toBeLessThan(config()['Memory'] as number);
  });

  line('has the limits of the job plus the supervisor’s share', () => {
    expect(config()['Memory']).toBe((300 + 2 * 40 + 72 + 64) * MIB);
    expect(config()['MemorySwap']).toBe(config()['Memory']);
    expect(config()['NanoCpus']).toBe(1.5e9);
    expect(config()['PidsLimit']).toBe(50 + 24);
    expect(config()['ShmSize']).toBe(300 * MIB);
    expect(nothing(config()['OomKillDisable'])).toBe(true);
    expect(config()['OomScoreAdj']).toBeGreaterThanOrEqual(0);
    const limits = Object.fromEntries(
      (config()['Ulimits'] as { Name: string; Soft: number; Hard: number }[]).map(({ Name, Soft, Hard }) => [
        Name,
        [Soft, Hard],
      ]),
    );
    expect(limits).toEqual({ nofile: [1024, 1024], core: [0, 0], fsize: [300 * MIB, 300 * MIB], msgqueue: [0, 0] });
  });

  line('has an init, no log, no restart, no terminal, and ends with its channel', () => {
    expect(config()['Init']).toBe(true);
    expect(config()['LogConfig']).toEqual({ Type: 'none', Config: {} });
    expect(seen.LogPath).toBe('');
    expect(config()['RestartPolicy']).toEqual({ Name: 'no', MaximumRetryCount: 0 });
    expect(config()['AutoRemove']).toBe(false);
    expect(seen.Config).toMatchObject({ Tty: false, OpenStdin: true, StdinOnce: true });
    expect(nothing(seen.Config.Healthcheck)).toBe(true);
  });

  line('uses an image by its id, and has only labels of its owner', () => {
    expect(image).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(seen.Image).toBe(image);
    expect(seen.Config.Image).toBe(image);
    const {
      [LABEL.managed]: managed,
      [LABEL.owner]: owner,
      [LABEL.job]: job,
      [LABEL.attempt]: attempt,
      ...rest
    } = seen.Config.Labels;
    expect([managed, owner, attempt]).toEqual(['true', ownerName(currentOwner()), '1']);
    expect(job).toMatch(/^skillcell-[0-9a-f]+$/);
    // The other labels come from the image.
    expect(Object.keys(rest).toSorted()).toEqual(['skillcell.bundle', 'skillcell.flavor']);
  });

  line('knows neither the host’s name nor its environment', () => {
    expect(seen.Config.Hostname).toBe('sandbox');
    expect(seen.Config.Hostname).not.toBe(hostname());
    expect(nothing(seen.Config.Domainname)).toBe(true);
    expect(seen.Config.Env.toSorted()).toEqual(['LANG=C.UTF-8', 'PATH=/usr/local/bin:/usr/bin:/bin']);
    const { HostConfig: _asserted, ...own } = seen;
    expect(JSON.stringify({ ...own, GraphDriver: undefined })).not.toContain('canary-of-the-host');
    expect(JSON.stringify([seen.Config, seen.Name, seen.HostConfig])).not.toContain(process.cwd());
  });

  line('has a command line with the level and the language, but nothing of a job', () => {
    expect(seen.Config.Entrypoint?.slice(0, 1)).toEqual(['/usr/local/bin/node']);
    expect(seen.Config.Cmd).toEqual(expect.arrayContaining(['--level=container', '--language=python']));
    expect(seen.Config.WorkingDir).toBe('/');
  });
});

describe('the configuration of any container', () => {
  const parts = { name: 'skillcell-0', owner: 'owner', image: 'sha256:0', runtime: undefined, appArmor: false };

  test('keeps all writable space below the memory limit, for all limits', () => {
    for (const memoryMib of [1, 16, 32, 33, 64, 512, 4096]) {
      for (const workspaceMib of [1, 128, 4096]) {
        const { HostConfig } = containerOptions(
          { ...SPEC, limits: { ...DEFAULT_LIMITS, memoryMib, workspaceMib } },
          parts,
        );
        const sizes = Object.values(HostConfig?.Tmpfs as Record<string, string>).map((text) =>
          Number(/size=(\d+)/.exec(text)?.[1]),
        );
        const sum = sizes.reduce((total, size) => total + size, HostConfig?.ShmSize ?? Number.NaN);
        expect(Math.min(...sizes)).toBeGreaterThan(0);
        expect(sum).toBeLessThan(HostConfig?.Memory ?? 0);
      }
    }
  });

  test('differs between languages only in the command line', () => {
    const [first, ...others] = languageNames().map((language) => containerOptions({ ...SPEC, language }, parts));
    for (const other of others) expect({ ...other, Cmd: [] }).toEqual({ ...first, Cmd: [] });
  });

  test('names a runtime only if one is given', () => {
    expect(containerOptions(SPEC, parts).HostConfig).not.toHaveProperty('Runtime');
    expect(containerOptions(SPEC, { ...parts, runtime: 'runsc' }).HostConfig?.Runtime).toBe('runsc');
  });

  test('requests AppArmor if the engine has it', () => {
    expect(containerOptions(SPEC, { ...parts, appArmor: true }).HostConfig?.SecurityOpt).toContain(
      'apparmor=docker-default',
    );
  });
});
