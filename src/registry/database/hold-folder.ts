import { join } from 'node:path';
import { reasonOf } from '../../contracts/errors/reason-of.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { withExclusive } from '../../library/lock/with-exclusive.ts';

const LOCK = 'skillcell.lock';

/**
 * Keeps a state folder for this process, and returns the function that frees it.
 *
 * @throws SkillcellError `database.in-use`
 */
export async function holdFolder(folder: string): Promise<() => Promise<void>> {
  const taken = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  const held = withExclusive(
    join(folder, LOCK),
    () => {
      taken.resolve();
      return over.promise;
    },
    { patienceMs: 0 },
  );
  await Promise.race([taken.promise, held]).catch((cause: unknown) => {
    if (!SkillcellError.isInstance(cause) || cause.code !== 'store.conflict') throw cause;
    throw new SkillcellError('database.in-use', `Cannot open the state folder: ${reasonOf(cause)}.`, { cause });
  });
  return () => {
    over.resolve();
    return held;
  };
}
