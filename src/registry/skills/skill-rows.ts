import type { Expression, ExpressionBuilder, Kysely, SelectQueryBuilder, SqlBool } from 'kysely';
import type { SkillFile } from '../../contracts/skills/skill.ts';
import type { KindRow, SkillBinaryRow, Tables } from '../database/tables.ts';
import { KIND_COLUMNS, kindObject, type KindObject } from '../kinds/kind-object.ts';
import { type Actor, findRow, isColumnInteger, type Listed, type ListOptions, PUBLIC } from '../kinds/kind-rows.ts';
import { notFound } from '../users/tokens.ts';
import type { SkillSpec } from './describe-skill.ts';

/** A skill of the registry, at its present version. */
export type SkillObject = KindObject<SkillSpec> & Required<Pick<KindObject, 'file'>>;

/** A skill that a user may use; a public one can be hidden by an own one of the same slug. */
export type UnifiedSkill = SkillObject & { hidden: boolean };

/** One version of a skill. */
export interface SkillVersion {
  version: number;
  fileSize: number;
  fileHash: string;
  digest: string;
  createdAt: number;
  spec: SkillSpec;
}

/** The archive of a version. */
export interface SkillArchive extends Omit<SkillVersion, 'spec'> {
  slug: string;
  bytes: Uint8Array;
}

type Skills = SelectQueryBuilder<Tables, 'kinds' | 'skill_binaries', object>;
type OfSkills = ExpressionBuilder<Tables, 'kinds' | 'skill_binaries'>;

const VERSION_COLUMNS = [
  'skill_binaries.version',
  'skill_binaries.file_size',
  'skill_binaries.file_hash',
  'skill_binaries.digest',
  'skill_binaries.created_at',
] as const;

/** Skills with their present versions. */
export function presentSkills(db: Kysely<Tables>): Skills {
  return db
    .selectFrom('kinds')
    .innerJoin('skill_binaries', (join) =>
      join
        .onRef('skill_binaries.kind_id', '=', 'kinds.id')
        .onRef('skill_binaries.version', '=', 'kinds.revision'),
    )
    .where('kinds.kind', '=', 'Skill');
}
