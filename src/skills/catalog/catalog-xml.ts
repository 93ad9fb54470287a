import { join } from 'node:path';
import type { Skill } from '../../contracts/skills/skill.ts';
import { type CatalogEntry, type CatalogLayout, entryBrief } from './catalog-entry.ts';
import { skillFileOf } from '../load/files/skill-file-name.ts';
import { oneLine } from '../text/text.ts';

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#x27;',
};

const FRAME = { before: '<available_skills>\n', between: '', after: '</available_skills>\n' };

/** The `<available_skills>` form of Agent Skills: one tag or value a line. */
export const xmlLayout: CatalogLayout = {
  empty: '',
  frame: FRAME,
  idFrame: FRAME,
  entry: writeEntry,
  briefEntry: (entry) => writeEntry(entry, entryBrief(entry)),
  idEntry: ({ skill }) => `<skill>\n<name>\n${escapeXml(skill.id)}\n</name>\n</skill>\n`,
  beforeNotice: () => '',
  description: { lineOverhead: 0, escape: (character) => ENTITIES[character] ?? character },
};

function writeEntry({ skill }: CatalogEntry, description: string): string {
  return (
    `<skill>\n<name>\n${escapeXml(skill.id)}\n</name>\n<description>\n${escapeXml(description)}\n</description>\n` +
    `<location>\n${escapeXml(oneLine(locationOf(skill)))}\n</location>\n</skill>\n`
  );
}

function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/**
 * An absolute path for a skill of a root. Below the job's skills folder for a skill that was rebuilt from bytes, and below
 * the id of the store for a skill of a store.
 */
function locationOf(skill: Skill): string {
  return join(skill.rootPath, skill.dir, skillFileOf(skill));
}
