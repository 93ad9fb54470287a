import { randomUUID } from 'node:crypto';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { STAGE_FOLDER } from './publication.ts';

/** A condition of a write: an object of this ETag, or none. */
export type Condition = { etag: string | null };

/** What became of a write with a condition. */
export type ConditionalWrite = 'written' | 'refused-by-condition' | 'not-implemented' | 'unknown';

/** How a probe asks the service. */
export interface ConditionProbe {
  write(key: string, condition: Condition): Promise<ConditionalWrite>;
  remove(key: string): Promise<void>;
}

/** No object of ours has it: it is no digest of anything. */
const NO_ETAG = '0'.repeat(32);

/**
 * Tries whether a service keeps the conditions of writes. One that ignores them writes over what another one has written, and says nothing. The object
 * lies beside the one that is to be written, in the folder of what is on its way, and is removed.
 *
 * @param key of the object that is to be written
 * @returns the condition that counts for nothing; undefined where both hold, or the service does not let it be tried: then the write itself
 * says why
 */
export async function ignoredCondition(key: string, { write, remove }: ConditionProbe): Promise<string | undefined> {
  const place = `${key.slice(0, key.lastIndexOf('/') + 1)}${STAGE_FOLDER}/probe-${randomUUID()}`;
  const counts = async (condition: Condition): Promise<boolean | undefined> => {
    const became = await write(place, condition);
    return became === 'unknown' ? undefined : became === 'refused-by-condition';
  };
  try {
    if ((await counts({ etag: NO_ETAG })) === false) return 'If-Match';
    const first = await write(place, { etag: null });
    if (first === 'not-implemented') return 'If-None-Match';
    if (first !== 'written') return undefined;
    return (await counts({ etag: null })) === false ? 'If-None-Match' : undefined;
  } finally {
    // Of a service that does not let it be removed, what stays is no file of a skill.
    await remove(place).catch(() => undefined);
  }
}

/** The service keeps no conditions of writes. */
export function unsupported(condition: string, address: string): SkillcellError {
  return new SkillcellError(
    'store.unsupported',
    `Cannot write: the service does not keep the condition ${condition}, so that edits of others would be lost, got ${address}.`,
  );
}
