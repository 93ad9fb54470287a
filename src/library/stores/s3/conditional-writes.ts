import { randomUUID } from 'node:crypto';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { STAGE_FOLDER } from './publication.ts';

/** A condition of a write: the object has this ETag, or (null) does not exist. */
export type Condition = { etag: string | null };

/** Outcome of a conditional write. */
export type ConditionalWrite = 'written' | 'refused-by-condition' | 'not-implemented' | 'unknown';

/** Requests of a probe to the service. */
export interface ConditionProbe {
  write(key: string, condition: Condition): Promise<ConditionalWrite>;
  remove(key: string): Promise<void>;
}

/** The ETag of no real object, as nothing has this digest. */
const NO_ETAG = '0'.repeat(32);

/**
 * Tests whether a service honours conditions of writes. A service that ignores them silently overwrites concurrent edits. The probe writes a
 * temporary object into the stage folder beside the key, and removes it.
 *
 * @param key of the object to be written
 * @returns the ignored condition; undefined where both hold, or where the service refuses the probe: the write itself then gives the reason
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
    // If the service refuses the removal, the remaining object is not a file of any skill.
    await remove(place).catch(() => undefined);
  }
}

/** The service ignores a condition of writes. */
export function unsupported(condition: string, address: string): SkillcellError {
  return new SkillcellError(
    'store.unsupported',
    `Cannot write to ${address}: the service ignores the condition ${condition}, so concurrent edits would be lost.`,
  );
}
