import type Docker from 'dockerode';
import { SkillcellError } from '../../contracts/skillcell-error.ts';
import type { Sandbox } from '../runner.ts';
import { callEngine } from './engine.ts';

/** A container of a configuration, started to run another program than the entry. */
type StartProgram = (program: Pick<Docker.ContainerCreateOptions, 'Entrypoint' | 'Cmd'>) => Promise<Sandbox>;

/**
 * Finds out whether an OCI runtime brings a kernel of its own, by asking in a container: a name in a configuration does not
 * tell.
 *
 * @param runtime the engine's name of it
 * @param engineKernel release of the kernel that the engine itself runs on
 * @throws SkillcellError `runner.isolation-unmet` when it is the engine's, or cannot be told from it
 */
export async function assertOwnKernel(runtime: string, engineKernel: string, start: StartProgram): Promise<void> {
  // It answers when it is asked, by someone who listens already.
  const sandbox = await start({ Entrypoint: ['/bin/sh', '-c', 'read -r question; uname -r'], Cmd: [] });
  let kernel: string;
  try {
    kernel = await callEngine('hear from a container', () => askKernel(sandbox));
  } finally {
    await sandbox.kill('its kernel is known');
  }
  if (kernel !== '' && engineKernel !== '' && kernel !== engineKernel) return;
  throw new SkillcellError(
    'runner.isolation-unmet',
    `Cannot start a container at level kernel: under the runtime ${runtime} it has the kernel of the engine, got ${kernel || 'no answer'}.`,
    { hint: 'Name a runtime that brings a kernel of its own, such as runsc of gVisor, or take level container.' },
  );
}

async function askKernel({ channel }: Sandbox): Promise<string> {
  let said = '';
  const { promise: answered, resolve } = Promise.withResolvers<void>();
  channel.once('close', resolve);
  channel.on('data', (chunk: Buffer) => {
    said += chunk.toString('latin1');
    if (said.includes('\n')) resolve();
  });
  channel.write('?\n');
  await answered;
  return said.trim();
}
