import type { Skill } from '../../contracts/skills/skill.ts';
import { demandsOfSkill } from '../../skills/select/assert-versions.ts';
import { policyFor } from '../../skills/select/policy.ts';
import { rangeOf } from '../../skills/select/version-range.ts';
import type { Assembled } from './assemble.ts';
import { inOrder } from './beside-skill.ts';
import { chooseVersions } from './choose-versions.ts';
import type { LibraryRequest } from './skill-library.ts';

/**
 * The versions of skills that go together for a request. Empty where no range is involved: then precedence alone decides.
 *
 * @throws SkillcellError `skills.version-unmet`
 */
export function versionsFor(of: Assembled, request: LibraryRequest): ReadonlyMap<string, Skill> {
  const { subsystem, sources } = of;
  const { consumer, includeInternal } = request;
  const refs = request.refs ?? request.versionsFor ?? [];
  const asksFor = [...sources.keys(), ...subsystem.skills].some((skill) => demandsOfSkill(skill).length > 0);
  if (refs.length === 0 || !(asksFor || refs.some((ref) => rangeOf(ref) !== undefined))) return new Map();
  const { rows } = subsystem.resolve(refs, { consumer, includeInternal });
  const loaded = rows.flatMap(({ ref, id, status }) =>
    status === 'loaded' || status === 'duplicate' ? [{ ref, id: id ?? '' }] : [],
  );
  const demands = loaded.flatMap(({ ref, id }) => {
    const range = rangeOf(ref);
    return range === undefined ? [] : [{ id, range, by: 'the request' }];
  });
  const policy = policyFor(subsystem.agentsConfig, consumer);
  const ids = loaded.map(({ id }) => id);
  return chooseVersions({ ids, demands, versions: versionsOf(of), denies: (id) => policy.denies(id) });
}

/** Every version of each skill: the active one first, then by precedence; for equal versions only the first. */
function versionsOf({ subsystem, sources }: Assembled): Map<string, Skill[]> {
  const versions = new Map(subsystem.skills.map((skill) => [skill.id, [skill]]));
  for (const skill of inOrder(sources.keys())) {
    const known = versions.get(skill.id) ?? [];
    if (known.every(({ fields }) => fields.version !== skill.fields.version)) known.push(skill);
  }
  return versions;
}
