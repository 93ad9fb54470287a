import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { searchSkills } from '../src/library/search/search-skills.ts';
import { loadSkillsSubsystem, type SkillsSubsystem } from '../src/skills/index.ts';
import type { BenchmarkGroup, BenchmarkOptions } from './benchmark-group.ts';
import { measurementOf, type Measurement } from './measurement.ts';

const ID = 'library.search.quality';

interface AskedSkill {
  id: string;
  description: string;
  body: string;
  ask: string[];
}

/**
 * Search quality: how often the right skill is the first answer or among the first five, and the tokens of five answers against the whole catalog. In
 * the variant without bodies the same skills have no instructions.
 */
export const searchQuality: BenchmarkGroup = {
  ids: ['bodies', 'descriptions'].flatMap((side) => ['hit1', 'hit5', 'tokens'].map((what) => `${ID}.${what}.${side}`)),
  run,
};

async function run({ progress }: BenchmarkOptions): Promise<Measurement[]> {
  const skills = parse(readFileSync(new URL('search-questions.yaml', import.meta.url), 'utf8')) as AskedSkill[];
  const found = [...(await ask(skills, 'bodies')), ...(await ask(skills, 'descriptions'))];
  progress(`${skills.flatMap((skill) => skill.ask).length} questions about ${skills.length} skills`);
  return found;
}

async function ask(skills: readonly AskedSkill[], side: 'bodies' | 'descriptions'): Promise<Measurement[]> {
  const root = mkdtempSync(join(tmpdir(), 'bench-quality-'));
  try {
    for (const { id, description, body } of skills) {
      mkdirSync(join(root, 'skills', id), { recursive: true });
      const text = side === 'bodies' ? body : 'See above.';
      writeFileSync(
        join(root, 'skills', id, 'SKILL.md'),
        `---\ndescription: ${JSON.stringify(description)}\n---\n${text}\n`,
      );
    }
    const subsystem = loadSkillsSubsystem({ roots: [{ kind: 'custom', path: join(root, 'skills') }] });
    return await asked(subsystem, skills, side, join(root, 'cache'));
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

async function asked(
  subsystem: SkillsSubsystem,
  skills: readonly AskedSkill[],
  side: string,
  cacheFolder: string,
): Promise<Measurement[]> {
  const places: number[] = [];
  const tokens: number[] = [];
  for (const { id, ask: questions } of skills) {
    for (const question of questions) {
      const { hits } = await searchSkills(subsystem, question, { max: 5, cacheFolder });
      places.push(hits.findIndex((hit) => hit.id === `custom.${id}`));
      const shown = hits.map((hit) => ({ id: hit.id, brief: hit.brief, snippet: hit.snippet?.text }));
      tokens.push(tokensOf(JSON.stringify(shown)));
    }
  }
  const share = (most: number): number => places.filter((place) => place >= 0 && place < most).length / places.length;
  const catalog = tokensOf(subsystem.skillsGalleryText().text);
  const row = (what: string, unit: string, values: number[], baseline: { id: string; values: number[] }): Measurement =>
    measurementOf({ id: `${ID}.${what}.${side}`, unit, goal: null, values, baseline });
  return [
    row('hit1', 'share', [share(1)], { id: 'always right', values: [1] }),
    row('hit5', 'share', [share(5)], { id: 'always right', values: [1] }),
    row('tokens', 'tokens', tokens, { id: 'the whole catalog', values: [catalog] }),
  ];
}

function tokensOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4);
}
