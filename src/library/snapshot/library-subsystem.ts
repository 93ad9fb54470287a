import type { Call } from '../../contracts/skills/store.ts';
import type { FullDescriptor } from '../../contracts/skills/descriptor.ts';
import type { SkillTree } from '../../contracts/skills/skill.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { ReadRange, SkillFileContent } from '../../skills/load/files/read-skill-file.ts';
import type { SkillsSubsystem } from '../../skills/load-subsystem.ts';
import { AdmittedSubsystem } from './admitted-subsystem.ts';
import type {
  ConsumerOptions,
  RenderOptions,
  SelectionOptions,
  SkillReading,
  Skillset,
  SubsystemParts,
} from '../../skills/subsystem-contract.ts';

/**
 * A subsystem of complete skills and heads. Heads appear in catalogs and matches; requests for their bytes are refused, as the subsystem is
 * synchronous and cannot fetch.
 */
export class LibrarySubsystem extends AdmittedSubsystem {
  readonly #heads: ReadonlySet<string>;
  readonly #fetch: FetchMore;

  /**
   * @param heads full ids of the skills that have only a head
   * @param fetch fetches more skills of the same snapshot
   */
  constructor(parts: SubsystemParts, heads: ReadonlySet<string>, fetch: FetchMore) {
    super(parts);
    this.#heads = heads;
    this.#fetch = fetch;
  }

  /**
   * The same snapshot with these skills complete, and all their imports.
   *
   * @throws SkillcellError `store.unavailable`; `store.changed` where their bytes are no longer available
   */
  async withWhole(request: WholeRequest): Promise<SkillsSubsystem> {
    return this.#hasWhole(request) ? this : await this.#fetch(request);
  }

  #hasWhole({ refs, ...selection }: WholeRequest): boolean {
    try {
      return super.importSkillset(refs, selection).skills.every(({ id }) => !this.#heads.has(id));
    } catch {
      // Other versions of the same snapshot may go together.
      return false;
    }
  }

  override importSkillset(refs: readonly string[], options: SelectionOptions = {}): Skillset {
    const found = super.importSkillset(refs, options);
    for (const { id } of found.skills) this.#requireWhole(id);
    return found;
  }

  override loadSkill(ref: string, options: RenderOptions = {}): SkillReading {
    const reading = super.loadSkill(ref, options);
    if (reading.row.status === 'loaded') this.#requireWhole(reading.row.id);
    return reading;
  }

  override readSkillFile(reference: string, path: string, options: ReadRange & ConsumerOptions = {}): SkillFileContent {
    this.#requireWhole(this.resolve([reference], { includeInternal: true }).rows[0]?.id);
    return super.readSkillFile(reference, path, options);
  }

  override skillTree(id: string): SkillTree {
    this.#requireWhole(this.resolve([id], { includeInternal: true }).rows[0]?.id);
    return super.skillTree(id);
  }

  override descriptor(options: { portable?: boolean | undefined; consumer?: string | undefined } = {}): FullDescriptor {
    if (options.portable === true) for (const id of this.#heads) this.#requireWhole(id);
    return super.descriptor(options);
  }

  #requireWhole(id: string | undefined): void {
    if (id === undefined || !this.#heads.has(id)) return;
    throw new SkillcellError(
      'skills.reference-unknown',
      `Cannot load the skill: only its head was fetched, got ${id}.`,
      { hint: 'Name it in the `refs` of library.subsystem(), or leave `refs` out to have all skills fetched.' },
    );
  }
}

/** A request for more complete skills of a snapshot. */
export interface WholeRequest extends Call, SelectionOptions {
  refs: readonly string[];
}

type FetchMore = (request: WholeRequest) => Promise<SkillsSubsystem>;

/**
 * Completes the named skills. A subsystem that is not from a library is always complete. @throws SkillcellError `store.unavailable`,
 * `store.changed`
 */
export async function withWhole<Skills extends SkillsSubsystem | undefined>(
  subsystem: Skills,
  request: WholeRequest,
): Promise<Skills | SkillsSubsystem> {
  return subsystem instanceof LibrarySubsystem ? await subsystem.withWhole(request) : subsystem;
}
