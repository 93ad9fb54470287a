import type { FullDescriptor } from '../contracts/descriptor.ts';
import type { SkillTree } from '../contracts/skill.ts';
import { SkillcellError } from '../contracts/skillcell-error.ts';
import type { ReadRange, SkillFileContent } from '../skills/load/read-skill-file.ts';
import { SkillsSubsystem } from '../skills/load-subsystem.ts';
import type {
  ConsumerOptions,
  RenderOptions,
  SelectionOptions,
  SkillReading,
  Skillset,
  SubsystemParts,
} from '../skills/subsystem-contract.ts';

/**
 * Skills of which some were fetched whole, and of the others the head: those are in catalogs and matches, and are refused where their bytes are
 * asked for, as nothing here may wait.
 */
export class LibrarySubsystem extends SkillsSubsystem {
  readonly #heads: ReadonlySet<string>;

  /** @param heads full ids of the skills of which only the head is there */
  constructor(parts: SubsystemParts, heads: ReadonlySet<string>) {
    super(parts);
    this.#heads = heads;
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
