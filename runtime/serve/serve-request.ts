import type { RequestAnswer, SandboxMessage } from '../../src/protocol/messages.ts';
import { wrapData } from '../agent/wrap-data.ts';
import { receiveSkills } from '../files/incoming-streams.ts';
import type { JobSurroundings } from '../run/job-surroundings.ts';
import { placeSkills } from './arrived-skills.ts';
import { renderArrived, type RenderedSkills } from './render-arrived.ts';

/**
 * Gets what the model asks for in place of a program from the host, which decides what the job's consumer may have. Skills are
 * checked and rendered as the job's own were, and join them.
 *
 * @param rendered what is known of the job's skills; it is brought up to date
 * @returns what the model is told of it
 */
export async function serveRequest(
  request: string,
  around: JobSurroundings,
  rendered: RenderedSkills,
): Promise<string> {
  const { calls, channel, globals, privileges, trees } = around;
  const arriving = receiveSkills();
  const reply = await calls.call('host', 'request', request, () => arriving.reader);
  if (!reply.ok) return reply.error.message;
  const { notes, texts, skills } = reply.value as RequestAnswer;
  const parts = [...notes];
  if (skills !== undefined) {
    const arrived = await arriving.done;
    const more = renderArrived(globals.JOB, { ...skills, trees: arrived });
    const fresh = [...arrived].filter(([id]) => !trees.has(id));
    // After a run this process works at the program's id.
    privileges.asSupervisor(() => placeSkills(around, new Map(fresh)));
    for (const [id, tree] of fresh) trees.set(id, tree);
    rendered.pool = more.pool;
    channel.send({ type: 'skills', skills: more.skills } satisfies SandboxMessage);
    parts.push(more.text.trimEnd());
  }
  parts.push(...texts.map(({ label, text }) => wrapData(label, text)));
  return parts.join('\n\n');
}
