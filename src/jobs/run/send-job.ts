import type { StreamWriter } from '../../protocol/channel/channel.ts';
import type { HostMessage } from '../../protocol/messages/messages.ts';
import { writeTar } from '../../protocol/files/tar.ts';
import { readInputFiles } from '../prepare/input-files.ts';
import type { PreparedJob } from '../prepare/prepare-job.ts';
import type { SandboxSession } from '../supply/sandbox-session.ts';
import { sendSkills } from '../prepare/skill-archives.ts';

const MIB = 1024 * 1024;

/** Sends a job with its skills, files and stdin to its sandbox, with backpressure. */
export async function sendJob(job: PreparedJob, { channel }: SandboxSession): Promise<void> {
  const { trees, files, stdin } = job;
  const open = (isNeeded: boolean): StreamWriter | undefined => (isNeeded ? channel.openStream() : undefined);
  const globals = channel.openStream();
  const writers = { skills: open(trees.size > 0), files: open(files.length > 0), stdin: open(stdin !== undefined) };
  const numbers = Object.entries(writers).flatMap(([name, writer]) =>
    writer === undefined ? [] : [[name, writer.number]],
  );
  channel.send({ type: 'start', globals: globals.number, ...Object.fromEntries(numbers) } satisfies HostMessage);
  await globals.write(Buffer.from(JSON.stringify(job.globals)));
  globals.end();
  if (writers.skills !== undefined) await sendSkills(trees, writers.skills);
  if (writers.files !== undefined) await writeTar(readInputFiles(files, job.limits.workspaceMib * MIB), writers.files);
  if (writers.stdin !== undefined && stdin !== undefined) {
    await writers.stdin.write(stdin);
    writers.stdin.end();
  }
}
