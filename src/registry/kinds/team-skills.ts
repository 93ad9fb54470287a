import type { Kysely } from 'kysely';
import { quotedText } from '../../contracts/text/quoted-text.ts';
import type { Tables } from '../database/tables.ts';
import { type Actor, findRow, PUBLIC } from './kind-rows.ts';
import type { BotSpec } from './kind-schemas.ts';

/** A skill that the bots of a team refer to. */
export interface TeamSkill {
  id: number;
  /** Its reference in a job: `public.<slug>` or `custom.<slug>`. */
  ref: string;
  name: string;
  /** Names of the bots that it is offered to. */
  bots: string[];
}

/** A skill that is not offered to a bot of a team. */
export interface LeftOutSkill extends Omit<TeamSkill, 'bots'> {
  bot: string;
  /** One line for people. */
  reason: string;
}

/** The skills of a team's jobs. */
export interface TeamSkills {
  skills: TeamSkill[];
  leftOut: LeftOutSkill[];
}

/**
 * The skills that jobs of a team may load, over its bots and their ghosts.
 *
 * @throws SkillcellError `resource.not-found`
 */
export async function teamSkills(db: Kysely<Tables>, id: number, actor: Actor): Promise<TeamSkills> {
  await findRow(db, 'Team', id, actor);
  const rows = await db
    .selectFrom('kind_references as members')
    .innerJoin('kinds as bot', 'bot.id', 'members.to_id')
    .innerJoin('kind_references as ghosts', 'ghosts.from_id', 'bot.id')
    .innerJoin('kind_references as taken', 'taken.from_id', 'ghosts.to_id')
    .innerJoin('kinds as skill', 'skill.id', 'taken.to_id')
    .select(['bot.name as bot', 'bot.json as botJson', 'skill.id', 'skill.user_id', 'skill.slug', 'skill.name'])
    .select('skill.json')
    .where('members.from_id', '=', id)
    .orderBy('skill.name')
    .orderBy('skill.id')
    .orderBy('bot.name')
    .execute();
  const own = new Set(rows.filter(({ user_id }) => user_id !== PUBLIC).map(({ slug }) => slug));
  const skills = new Map<number, TeamSkill>();
  const leftOut: LeftOutSkill[] = [];
  for (const { bot, botJson, id: skillId, user_id, slug, name, json } of rows) {
    const row = { id: skillId, ref: `${user_id === PUBLIC ? 'public' : 'custom'}.${slug}`, name };
    const { shell } = JSON.parse(botJson) as BotSpec;
    const { bindShells = [] } = JSON.parse(json) as { bindShells?: string[] };
    const reason =
      user_id === PUBLIC && own.has(slug)
        ? 'Another bot refers to a skill of yours with the same name.'
        : reasonOfShell(bindShells, shell);
    if (reason !== undefined) leftOut.push({ ...row, bot, reason });
    else if (skills.get(skillId)?.bots.push(bot) === undefined) skills.set(skillId, { ...row, bots: [bot] });
  }
  return { skills: [...skills.values()], leftOut };
}

function reasonOfShell(bindShells: readonly string[], shell: string | undefined): string | undefined {
  if (bindShells.length === 0 || (shell !== undefined && bindShells.includes(shell))) return undefined;
  const offered = `The skill is for the shells ${bindShells.map(quotedText).join(', ')}`;
  return shell === undefined ? `${offered}; the bot has none.` : `${offered}, not for ${quotedText(shell)}.`;
}
