import { randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import type Docker from 'dockerode';
import { DEFAULT_LIMITS } from '../../contracts/limits.ts';
import { SkillcellError } from '../../contracts/skillcell-error.ts';
import { currentOwner, ownerName } from '../owner.ts';
import { containerOptions } from './container-options.ts';
import { removeContainer } from './container-removal.ts';
import { demultiplex } from './demultiplex.ts';
import { callEngine } from './engine.ts';

/**
 * Finds out whether an OCI runtime brings a kernel of its own, by asking in a container: a name in a configuration does not
 * tell.
 *
 * @param parts.engineKernel release of the kernel that the engine itself runs on
 * @throws SkillcellError `runner.isolation-unmet` when it is the engine's
 */
export async function assertOwnKernel(
  engine: Docker,
  parts: { image: string; runtime: string; engineKernel: string },
): Promise<void> {
  const { image, runtime, engineKernel } = parts;
  const name = `skillcell-${randomBytes(8).toString('hex')}`;
  const owner = ownerName(currentOwner());
  const spec = { isolation: 'kernel', language: 'bash', limits: DEFAULT_LIMITS } as const;
  const options = containerOptions(spec, { name, owner, image, runtime, appArmor: false });
  const said = await printed(engine, { ...options, Entrypoint: ['/bin/uname'], Cmd: ['-r'] });
  if (said !== '' && said !== engineKernel) return;
  throw new SkillcellError(
    'runner.isolation-unmet',
    `Cannot start a container at level kernel: under the runtime ${runtime} it has the kernel of the engine, got ${said || 'no answer'}.`,
    { hint: 'Name a runtime that brings a kernel of its own, such as runsc of gVisor, or take level container.' },
  );
}

async function printed(engine: Docker, options: Docker.ContainerCreateOptions): Promise<string> {
  const { name, ...body } = options;
  const container = engine.getContainer(name ?? '');
  try {
    // The client puts all of the options into the address as well, where proxies and engines have a limit.
    const request = { _query: { name }, _body: body } as Docker.ContainerCreateOptions;
    await callEngine('create a container', (abortSignal) => engine.createContainer({ ...request, abortSignal }));
    const attached = await callEngine('attach to a container', (abortSignal) =>
      container.attach({ stream: true, stdout: true, stderr: true, hijack: true, abortSignal }),
    );
    const output = demultiplex(attached as Duplex, () => undefined);
    let text = '';
    output.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    const ended = new Promise<void>((resolve) => output.once('close', resolve).once('end', resolve));
    output.on('error', () => undefined);
    await callEngine('start a container', (abortSignal) => container.start({ abortSignal }));
    await callEngine('hear from a container', () => ended);
    return text.trim();
  } finally {
    await removeContainer(container);
  }
}
