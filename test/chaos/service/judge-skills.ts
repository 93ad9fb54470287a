import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ServiceCaller } from './service-calls.ts';
import type { ServiceHistory, UploadedSkill } from './service-history.ts';
import type { ServedPlace } from './served-host.ts';

/** What a judge of skills compares. */
export interface SkillEvidence {
  place: ServedPlace;
  history: ServiceHistory;
  /** One for each user. */
  callers: readonly ServiceCaller[];
}

/** How the uploads ended. */
export interface SkillTally {
  skills: number;
  /** Later versions that were accepted. */
  versions: number;
  deleted: number;
  /** Archives whose requests had no answer, and those of them that are versions now. */
  unanswered: number;
  unansweredStored: number;
}

/**
 * Compares skills by their downloads with the archives that clients have sent: each accepted one is there byte for byte, and each without an answer as
 * a whole or not at all.
 */
export async function judgeSkills({ place, callers, history }: SkillEvidence): Promise<{
  faults: string[];
  tally: SkillTally;
}> {
  const faults: string[] = [];
  let unansweredStored = 0;
  for (const [user, caller] of callers.entries()) {
    const listed = await listedSkills(caller);
    for (const skill of history.skills.filter((each) => each.user === user)) {
      const id = listed.get(skill.name);
      listed.delete(skill.name);
      if (id !== undefined && skill.removed === 'yes') faults.push(`skill ${skill.name} was deleted and is there`);
      const isMissing = id === undefined || (skill.id !== undefined && skill.id !== id);
      if (isMissing && skill.removed === 'no' && skill.sure.size > 0)
        faults.push(`skill ${skill.name} was accepted and is missing`);
      if (id === undefined) continue;
      const judged = await judgeVersions(caller, id, skill);
      faults.push(...judged.faults);
      unansweredStored += judged.unansweredStored;
    }
    for (const name of listed.keys()) faults.push(`skill ${name} was never uploaded`);
  }
  for (const name of readdirSync(join(place.folder, 'incoming')))
    faults.push(`the file ${name} of a form is left over`);
  const sum = (count: (skill: UploadedSkill) => number): number =>
    history.skills.reduce((all, skill) => all + count(skill), 0);
  const tally: SkillTally = {
    skills: sum(({ sure }) => (sure.has(1) ? 1 : 0)),
    versions: sum(({ sure }) => [...sure.keys()].filter((version) => version > 1).length),
    deleted: sum(({ removed }) => (removed === 'yes' ? 1 : 0)),
    unanswered: sum(({ sent, sure }) => [...sent.values()].flat().length - sure.size),
    unansweredStored,
  };
  return { faults, tally };
}

/** The ids of the caller's skills by their names. */
async function listedSkills(caller: ServiceCaller): Promise<Map<string, number>> {
  const listed = new Map<string, number>();
  for (let skip = 0, more = true; more; skip += 100) {
    const answer = await caller.call(`/skills?limit=100&skip=${skip}`);
    const items = (answer?.json?.items ?? []) as { metadata: { name: string; labels: { id: string } } }[];
    for (const { metadata } of items) listed.set(metadata.name, Number(metadata.labels.id));
    more = items.length === 100;
  }
  return listed;
}

/** The versions of a skill are 1, 2 and so on, up to the last accepted one at least. */
async function judgeVersions(
  caller: ServiceCaller,
  id: number,
  { name, sent, sure }: UploadedSkill,
): Promise<{ faults: string[]; unansweredStored: number }> {
  const faults: string[] = [];
  let unansweredStored = 0;
  const answer = await caller.call(`/skills/${id}/versions`);
  const stored = ((answer?.json ?? []) as { version: number }[]).map(({ version }) => version).toReversed();
  const isWhole = stored.length > 0 && stored.every((version, at) => version === at + 1);
  if (!isWhole) faults.push(`skill ${name} has the versions ${stored.join(', ')}`);
  for (const version of sure.keys())
    if (!stored.includes(version)) faults.push(`version ${version} of skill ${name} was accepted and is missing`);
  for (const version of stored) {
    const bytes = await caller.bytes(`/skills/${id}/download?version=${version}`);
    const accepted = sure.get(version);
    const right = accepted === undefined ? (sent.get(version) ?? []) : [accepted];
    if (bytes === undefined || !right.some((each) => bytes.equals(each)))
      faults.push(`version ${version} of skill ${name} has other bytes`);
    else if (accepted === undefined) unansweredStored += 1;
  }
  const [present, last] = [await caller.bytes(`/skills/${id}/download`), stored.at(-1)];
  const expected = await caller.bytes(`/skills/${id}/download?version=${last}`);
  if (present === undefined || expected?.equals(present) !== true)
    faults.push(`skill ${name} is downloaded with other bytes than its last version`);
  return { faults, unansweredStored };
}
