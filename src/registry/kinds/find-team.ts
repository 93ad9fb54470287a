import type { Kysely } from 'kysely';
import * as z from 'zod';
import { isSlug } from '../../skills/text/slug.ts';
import { oneLine } from '../../skills/text/text.ts';
import type { Tables } from '../database/tables.ts';
import { isColumnInteger, PUBLIC } from './kind-rows.ts';
import { DEFAULT_NAMESPACE } from './kind-schemas.ts';

/** A team in a request: its id, its name, or `namespace/name`. A name alone is one of the namespace `default`. */
export type TeamReference = number | string;

/** A team in a request. */
export const TEAM_SCHEMA: z.ZodType<TeamReference> = z
  .union([
    z.int().min(1),
    z
      .string()
      .min(1)
      .max(200)
      .refine((text) => text === oneLine(text), 'must be on one line, without hidden characters'),
  ])
  .meta({ description: 'A team: its id, its name, or `namespace/name`. Own teams come before public ones.' });

/** The id of a team of a user, else of a public one; undefined for a missing team. */
export async function findTeam(db: Kysely<Tables>, team: TeamReference, userId: number): Promise<number | undefined> {
  if (typeof team === 'number' && !isColumnInteger(team)) return undefined;
  const teams = db
    .selectFrom('kinds')
    .select('id')
    .where('kind', '=', 'Team')
    .where('user_id', 'in', [PUBLIC, userId])
    .orderBy('user_id', 'desc');
  const { namespace, name } = readName(String(team));
  const found = await (
    typeof team === 'number'
      ? teams.where('id', '=', team)
      : teams.where('namespace', '=', namespace).where('name', '=', name)
  ).executeTakeFirst();
  return found?.id;
}

function readName(text: string): { namespace: string; name: string } {
  const slash = text.indexOf('/');
  const namespace = text.slice(0, Math.max(0, slash));
  return isSlug(namespace) ? { namespace, name: text.slice(slash + 1) } : { namespace: DEFAULT_NAMESPACE, name: text };
}
