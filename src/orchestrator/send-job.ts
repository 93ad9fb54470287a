import { HOST_STREAM, type HostMessage } from '../protocol/messages.ts';
import { writeTar } from '../protocol/tar.ts';
import { readInputFiles } from './input-files.ts';
import type { PreparedJob } from './prepare-job.ts';
import type { SandboxSession } from './sandbox-session.ts';
import { sendSkills } from './skill-archives.ts';

const MIB = 1024 * 1024;

/** Sends a job and all that belongs to it into its sandbox, as fast as the sandbox takes it. */
export async function sendJob(job: PreparedJob, { channel }: SandboxSession): Promise<void> {
  const { trees, files, stdin } = job;
  const start: HostMessage = {
    type: 'start',
    skills: trees.size > 0,
    files: files.length > 0,
    stdin: stdin !== undefined,
  };
  const globals = channel.openStream(HOST_STREAM.globals);
  channel.send(start);
  await globals.write(Buffer.from(JSON.stringify(job.globals)));
  globals.end();
  if (trees.size > 0) await sendSkills(trees, channel.openStream(HOST_STREAM.skills));
  if (files.length > 0) {
    await writeTar(readInputFiles(files, job.limits.workspaceMib * MIB), channel.openStream(HOST_STREAM.files));
  }
  if (stdin !== undefined) {
    const writer = channel.openStream(HOST_STREAM.stdin);
    await writer.write(stdin);
    writer.end();
  }
}
