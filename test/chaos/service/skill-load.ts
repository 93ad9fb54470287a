import { skillArchive } from '../../fixtures/registry/skill-archive.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { isSure, type ServiceAnswer, type ServiceCaller } from './service-calls.ts';
import type { ServiceHistory, UploadedSkill } from './service-history.ts';

/** What clients do with skills. */
export interface SkillLoad {
  /** Uploads a new skill. */
  upload(caller: ServiceCaller, user: number): Promise<void>;
  /** Stores the next version of a skill of the user, if there is one. */
  update(caller: ServiceCaller, user: number): Promise<void>;
  /** Deletes a skill of the user, if there is one. */
  remove(caller: ServiceCaller, user: number): Promise<void>;
}

/** Most bytes of the file beside SKILL.md: the check of an archive takes a while, so that kills meet it. */
const MOST_BYTES = 400_000;

/** Creates the actions. A skill is changed by one request at a time, so that its next version is known. */
export function skillLoad(random: SeededRandom, history: ServiceHistory): SkillLoad {
  const busy = new Set<UploadedSkill>();
  let archives = 0;

  /** An archive that differs from each other one. */
  const archiveOf = (name: string): { bytes: Uint8Array; form: FormData } => {
    const content = Buffer.alloc(random.between(1, MOST_BYTES), `text ${(archives += 1)} of ${name}\n`);
    const { bytes, file } = skillArchive(name, {}, { others: [{ name: `${name}/data.txt`, content }] });
    const form = new FormData();
    form.set('file', new Blob([new Uint8Array(bytes)]), file);
    return { bytes, form };
  };

  /** Records an archive that may have become a version, before its request. */
  const send = (skill: UploadedSkill, version: number, bytes: Uint8Array): void => {
    const sent = skill.sent.get(version) ?? [];
    skill.sent.set(version, [...sent, bytes]);
  };

  const change = async (
    user: number,
    act: (skill: UploadedSkill & { id: number }) => Promise<ServiceAnswer | undefined>,
    isDone: (answer: ServiceAnswer, skill: UploadedSkill) => boolean,
  ): Promise<void> => {
    const free = history.skills.filter(
      (each): each is UploadedSkill & { id: number } =>
        each.user === user && each.id !== undefined && each.removed === 'no' && !busy.has(each),
    );
    if (free.length === 0) return;
    const skill = random.pick(free as [(typeof free)[number], ...typeof free]);
    busy.add(skill);
    const answer = await act(skill);
    if (isSure(answer) && !isDone(answer, skill))
      history.blame(`a change of the skill ${skill.name} is refused with ${answer.status}: ${answer.text}`);
    busy.delete(skill);
  };

  return {
    async upload(caller, user) {
      const name = `skill-${history.skills.length}`;
      const skill: UploadedSkill = { name, user, id: undefined, sent: new Map(), sure: new Map(), removed: 'no' };
      history.skills.push(skill);
      const { bytes, form } = archiveOf(name);
      send(skill, 1, bytes);
      const answer = await caller.call('/skills/upload', { body: form });
      history.note({ upload: name, status: answer?.status });
      if (answer?.status === 201) {
        skill.sure.set(1, bytes);
        // The answer may be cut off after its head.
        if (answer.json !== undefined) skill.id = Number(answer.json.skill.metadata.labels.id);
      } else if (isSure(answer)) history.blame(`the skill ${name} is refused with ${answer.status}: ${answer.text}`);
    },

    async update(caller, user) {
      let isStale = false;
      await change(
        user,
        async (skill) => {
          const read = await caller.call(`/skills/${skill.id}/versions`);
          if (read?.status !== 200 || read.json === undefined) return read;
          const [{ version }] = read.json as [{ version: number }];
          const next = version + 1;
          const { bytes, form } = archiveOf(skill.name);
          // An earlier request without an answer may still be at work, as its database was away.
          isStale = skill.sent.has(next);
          send(skill, next, bytes);
          const headers = { 'if-match': `"${version}"` };
          const answer = await caller.call(`/skills/${skill.id}`, { method: 'PUT', body: form, headers });
          history.note({ update: skill.name, version: next, status: answer?.status });
          if (answer?.status === 200) skill.sure.set(next, bytes);
          return answer;
        },
        ({ status }) => status === 200 || (status === 412 && isStale),
      );
    },

    async remove(caller, user) {
      await change(
        user,
        async (skill) => {
          const answer = await caller.call(`/skills/${skill.id}`, { method: 'DELETE' });
          history.note({ remove: skill.name, status: answer?.status });
          if (answer?.status === 204) skill.removed = 'yes';
          else if (!isSure(answer)) skill.removed = 'maybe';
          return answer;
        },
        ({ status }) => status === 204,
      );
    },
  };
}
