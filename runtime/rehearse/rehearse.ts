import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { FullDescriptor } from '../../src/contracts/skills/descriptor.ts';
import type { SkillTrees } from '../../src/contracts/skills/skill.ts';
import type { Channel } from '../../src/protocol/channel/channel.ts';
import type { Rehearsal } from '../../src/protocol/messages/messages.ts';
import { writeTar, type TarFile } from '../../src/protocol/files/tar.ts';
import { requireArrived, writeSkills } from '../serve/arrived-skills.ts';
import type { ExecutorProcess } from '../run/program/executor-process.ts';
import { receiveSkills } from '../files/incoming-streams.ts';
import type { Privileges } from '../sandbox/privileges.ts';
import { DOOR_PORT } from '../network/network-variables.ts';
import { rehearseRun } from './rehearse-run.ts';
import { sampleDescriptor } from './sample-descriptor.ts';
import type { SandboxLayout } from '../sandbox/sandbox-layout.ts';
import type { UserProcesses } from '../sandbox/user-processes.ts';

const ID = 'public.rehearsal';
const ROUNDS = 3;
const BODY = `---\nname: rehearsal\ndescription: A skill to rehearse with.\n---\n\n${'One line of a body.\n'.repeat(40)}`;

/**
 * Runs the steps of a job ahead of time with a sample skill, so that their code is loaded and compiled when the job
 * arrives: unpack, verify, write, run, collect, and for codegen rebuild and render. All traces are removed.
 */
export async function rehearse(
  layout: SandboxLayout,
  processes: UserProcesses,
  privileges: Privileges,
  executor: ExecutorProcess,
  { codegen, skillCode, network }: Rehearsal,
): Promise<void> {
  const folder = join(layout.skills, '.rehearsal');
  for (let round = 0; round < ROUNDS; round += 1) {
    const trees = await sendSample();
    const descriptor = sampleDescriptor(ID, trees.get(ID) ?? new Map());
    requireArrived(descriptor, trees);
    writeSkills(folder, trees, executor.language);
    rmSync(folder, { recursive: true, force: true });
    await rehearseRun(layout, processes, privileges);
    if (codegen) await render(descriptor, trees);
    if (executor.language.reads === 'json') await rehearseExecutor(executor, { skillCode, network });
    if (network) await rehearseDoor();
  }
}

/** Sends a message to an executor that reads JSON, so that it reads once and loads a module ahead. */
async function rehearseExecutor(
  { link, ended }: ExecutorProcess,
  wanted: Pick<Rehearsal, 'skillCode' | 'network'>,
): Promise<void> {
  const answered = new Promise<void>((resolve) => {
    link.onMessage = (message) => {
      if (message.type === 'rehearsed') resolve();
    };
  });
  link.send({ type: 'rehearse', ...wanted, env: { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8', HOME: '/' } });
  await Promise.race([answered, ended]);
}

/** Listens once: the first time takes some milliseconds. */
async function rehearseDoor(): Promise<void> {
  const { openDoor } = await import('../network/open-network.ts');
  const closed = { openStream: unused, receive: unused, send: unused } as unknown as Channel;
  (await openDoor({ channel: closed, port: DOOR_PORT, connections: 1 })).close();
}

function unused(): never {
  throw new Error('A connection during a rehearsal.');
}

/** Sends a skill the way that the host sends one, but within this process. */
async function sendSample(): Promise<SkillTrees> {
  const { reader, done } = receiveSkills();
  await writeTar(sampleFiles(), {
    write: async (chunk) => {
      await reader.data(Buffer.from(chunk));
    },
    end: () => reader.end(),
  });
  return await done;
}

function* sampleFiles(): Generator<TarFile> {
  for (const [name, text] of [
    ['SKILL.md', BODY],
    ['compact.md', 'Short.\n'],
    ['scripts/run.sh', '#!/bin/sh\n'],
  ] as const) {
    yield { path: `${ID}/${name}`, bytes: Buffer.from(text), executable: name.endsWith('.sh') };
  }
}

async function render(descriptor: FullDescriptor, trees: SkillTrees): Promise<void> {
  const [{ rebuildSkills }] = await Promise.all([
    import('../../src/skills/load-subsystem.ts'),
    import('../serve/serve-codegen.ts'),
  ]);
  rebuildSkills(descriptor, trees).buildSkillsInstructionBlock({ refs: [ID], pool: [] });
}
