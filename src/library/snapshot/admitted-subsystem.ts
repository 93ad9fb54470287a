import type { Diagnostic } from '../../contracts/errors/diagnostic.ts';
import type { Skill } from '../../contracts/skills/skill.ts';
import { SkillsSubsystem } from '../../skills/load-subsystem.ts';
import { policyFor } from '../../skills/select/policy.ts';
import type { SelectionOptions, Skillset } from '../../skills/subsystem-contract.ts';
import { withoutRange } from '../../skills/text/bare-reference.ts';

/**
 * Skills without their unapproved ones. An import of an unapproved skill counts as unknown; requests for the importing skill, in a job or for a
 * prompt, get the reason as a diagnostic.
 */
export class AdmittedSubsystem extends SkillsSubsystem {
  override importSkillset(refs: readonly string[], options: SelectionOptions = {}): Skillset {
    const found = super.importSkillset(refs, options);
    return { ...found, diagnostics: [...found.diagnostics, ...this.#refusedImports(found, options.consumer)] };
  }

  #refusedImports({ skills }: Skillset, consumer: string | undefined): Diagnostic[] {
    const refusals = this.diagnostics.filter(({ skill }) => skill !== undefined);
    if (refusals.length === 0) return [];
    const policy = policyFor(this.agentsConfig, consumer);
    const imported = new Set(skills.flatMap(({ fields }) => (fields.imports ?? []).map(withoutRange)));
    for (const { id } of this.skills) imported.delete(id);
    return refusals.filter(({ skill = '' }) => imported.has(skill) && !policy.denies(skill));
  }
}

/**
 * The same skills, as a subsystem that reports left-out skills.
 *
 * @param skills replaces the skills of `subsystem`
 */
export function admitted(subsystem: SkillsSubsystem, skills: readonly Skill[] = subsystem.skills): AdmittedSubsystem {
  const { diagnostics, agentsConfig, overrides, customNamespaces, customSkillsRoot, bundleRoot } = subsystem;
  return new AdmittedSubsystem({
    ...{ skills: [...skills], diagnostics: [...diagnostics], agentsConfig, customSkillsRoot, bundleRoot },
    ...{ overrides: [...overrides], customNamespaces: [...customNamespaces] },
  });
}
