import type { Skill } from '../../contracts/skills/skill.ts';
import { catalogDigest } from '../text/digest.ts';

/** An immutable snapshot of the catalog of one consumer. The first id is `SK1`. */
export interface Catalog {
  readonly consumer: string | null;
  /** Full ids in code-point order. */
  readonly ids: readonly string[];
  /** `sha256:<64 hex>` over consumer and ids. */
  readonly digest: string;
}

/**
 * Takes a snapshot of the skills that a consumer may see.
 *
 * @param consumer id of the generator, undefined for none
 * @param visible the visible skills, sorted by full id
 * @returns the frozen snapshot
 * @example
 * ```ts
 * import { takeCatalog } from 'skillcell/skills';
 *
 * const { consumer, ids } = takeCatalog('solver.codegen', [{ id: 'custom.units' }]);
 * console.log(consumer, ids);
 * // prints: solver.codegen [ 'custom.units' ]
 * ```
 */
export function takeCatalog(consumer: string | undefined, visible: readonly Pick<Skill, 'id'>[]): Catalog {
  const ids = visible.map((skill) => skill.id);
  return Object.freeze({
    consumer: consumer ?? null,
    ids: Object.freeze(ids),
    digest: catalogDigest(consumer ?? null, ids),
  });
}
