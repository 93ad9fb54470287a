import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { StartedTestContainer } from 'testcontainers';
import type { JobResult } from '../../src/contracts/jobs/result.ts';
import { LABEL } from '../../src/sandboxes/docker/container-options.ts';
import { currentOwner, parseOwnerName } from '../../src/durable/owner.ts';
import { dockerImage, dockerTest, MISSING_ENGINE } from '../fixtures/docker-image.ts';
import { ownContainers } from '../fixtures/own-containers.ts';

/** Path of the engine's socket, on this machine and in the container. */
const SOCKET = '/var/run/docker.sock';
/** A path in the container's own file system. The engine cannot mount it, because the host has no such path. */
const HOME = '/home/tester';

/**
 * Tests the installed command line in a container that reaches the engine outside.
 *
 * @param folder the folder of the installed package
 */
export function describeInContainer(folder: () => string): void {
  describe('in a container', () => {
    let container: StartedTestContainer;

    beforeAll(async () => {
      if (MISSING_ENGINE !== undefined) return;
      const { image } = await dockerImage();
      // The reaper of testcontainers is an image from a registry. This file removes its one container itself.
      process.env['TESTCONTAINERS_RYUK_DISABLED'] = 'true';
      const { GenericContainer } = await import('testcontainers');
      container = await new GenericContainer(image)
        .withEntrypoint(['/bin/sleep'])
        .withCommand(['600'])
        .withNetworkMode('none')
        .withBindMounts([{ source: SOCKET, target: SOCKET }])
        .withCopyDirectoriesToContainer([{ source: folder(), target: HOME }])
        .withWorkingDir(HOME)
        .start();
    }, 300_000);

    afterAll(async () => {
      if (MISSING_ENGINE !== undefined) return;
      await container.stop({ remove: true, timeout: 0 });
      expect(await ownContainers()).toEqual([]);
    });

    /** Runs the installed command in the container. */
    async function skillcell(...words: string[]): Promise<{ exitCode: number; stdout: string; stderr: string }> {
      return await container.exec(['node_modules/.bin/skillcell', ...words], {
        workingDir: HOME,
        env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME },
      });
    }

    async function write(name: string, content: string): Promise<void> {
      await container.copyContentToContainer([{ content, target: `${HOME}/${name}` }]);
    }

    async function read(name: string): Promise<string> {
      return (await container.exec(['cat', `${HOME}/${name}`])).stdout;
    }

    dockerTest('the packed command line builds its image from inside a container', { timeout: 300_000 }, async () => {
      const { exitCode, stdout, stderr } = await skillcell('image', 'build', '--json');
      expect(exitCode, stderr).toBe(0);
      expect(JSON.parse(stdout)).toEqual({
        image: 'skillcell-sandbox:slim',
        id: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as string,
      });
      expect(stderr).toMatch(/^base: \S+, (already here|from the registry)$/m);
    });

    dockerTest('the packed command line in a container runs a job in a container of the same engine', {}, async () => {
      await write(
        'program.py',
        "import platform\nprint(open('data.csv').read().upper())\nopen('out/host', 'w').write(platform.node())\n",
      );
      await write('data.csv', 'a,b');
      const words = ['--runner', 'docker', '--file', 'data.csv', '--output', 'results', '--json'];
      const { exitCode, stdout, stderr } = await skillcell('exec', 'program.py', ...words);
      expect(exitCode, stderr + stdout).toBe(0);
      expect(JSON.parse(stdout) as JobResult).toMatchObject({
        outcome: 'succeeded',
        runner: 'docker',
        isolation: 'container',
        stdout: { text: 'A,B\n' },
        artifacts: [{ path: 'host', bytes: 7 }],
      });
      expect(await read('results/host')).toBe('sandbox');
    });

    dockerTest('a failing program in a container gives a result and leaves no container', {}, async () => {
      const { engine } = await dockerImage();
      /** The containers of owners in other process namespaces: those of the command line in the container. */
      const foreign = async (): Promise<string[]> => {
        const all = await engine.listContainers({ all: true, filters: { label: [`${LABEL.managed}=true`] } });
        const here = currentOwner().pidNamespace;
        const owners = all.map(({ Labels }) => parseOwnerName(Labels[LABEL.owner] ?? ''));
        return owners.filter((owner) => owner?.pidNamespace !== here).map((owner) => JSON.stringify(owner));
      };
      await write('program.sh', 'echo out; echo err >&2; exit 3');
      const { exitCode, stdout } = await skillcell('exec', 'program.sh', '--runner', 'docker', '--json');
      expect(exitCode).toBe(1);
      expect(JSON.parse(stdout)).toMatchObject({ outcome: 'failed', exitCode: 3, stderr: { text: 'err\n' } });
      expect(await foreign()).toEqual([]);
    });

    dockerTest('doctor reports in a container which checks pass there', {}, async () => {
      const { exitCode, stdout } = await skillcell('doctor', '--json');
      expect(exitCode).toBe(0);
      const report = JSON.parse(stdout) as { best: string; checks: { id: string; ok: boolean }[] };
      expect(report.best).toBe('container');
      expect(report.checks.filter(({ id }) => id === 'docker' || id === 'image')).toMatchObject([
        { ok: true },
        { ok: true },
      ]);
    });
  });
}
