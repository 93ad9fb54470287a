import type { FullDescriptor } from '../contracts/skills/descriptor.ts';
import type { Diagnostic } from '../contracts/errors/diagnostic.ts';
import type {
  AgentsConfig,
  ReferenceRow,
  Skill,
  SkillTrees,
  SkillVariant,
  SourceRow,
} from '../contracts/skills/skill.ts';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import type { Catalog } from './catalog/catalog.ts';
import { takeCatalog } from './catalog/catalog.ts';
import { makePortableDescriptor } from './descriptor/make-descriptor.ts';
import { EVERY_CONSUMER } from './select/policy.ts';
import type { SkillsSubsystem } from './subsystem.ts';
import { compareCodePoints } from './text/text.ts';

/** The most bytes of skills that one job carries. */
export const JOB_SKILL_BYTES: number = 64 * 1024 * 1024;

/** Which skills a job asks for, and how it will render them. */
export interface ExportJob {
  refs: readonly string[];
  consumer: string;
  includeInternal?: boolean | undefined;
  /** Ids of the tools that the job may call; a skill that requires another is refused. */
  tools?: readonly string[] | undefined;
  /** The snapshot that short ids in `refs` mean. */
  catalog?: Catalog | undefined;
  variant?: SkillVariant | undefined;
  pool?: readonly SourceRow[] | undefined;
}

/** The skills of a job on their way into a sandbox. */
export interface ExportedGlobals {
  /** Portable; holds the closure of this job and the policy of its consumer, nothing else. */
  descriptor: FullDescriptor;
  /** Bytes as they are on disk now. Their digests are from the load, so the sandbox finds every file that changed since. */
  trees: SkillTrees;
  rows: ReferenceRow[];
  /** Full ids of the rows with status `loaded`, in request order. The sandbox asks for these: short ids have no meaning there. */
  refs: string[];
  /** Full ids in load order. */
  active: string[];
  diagnostics: Diagnostic[];
}

/**
 * Exports the skills that a job's consumer may load for this job: the requested skills with their imports. Denied or
 * unrelated skills are never exported.
 *
 * @param subsystem the caller's skills
 * @param job references, consumer and options of rendering
 * @returns descriptor and bytes for {@link setSkillsDescriptor} in the sandbox
 * @throws SkillcellError `skills.too-large` when the skills have more bytes than a job carries
 * @example
 * ```ts
 * import { mkdirSync, writeFileSync } from 'node:fs';
 * import { exportRuntimeGlobals, loadSkillsSubsystem } from 'skillcell/skills';
 *
 * mkdirSync('skills/units', { recursive: true });
 * writeFileSync('skills/units/SKILL.md', '---\nname: units\ndescription: Units in reports.\n---\nGive SI units.\n');
 * const skills = loadSkillsSubsystem({ roots: [{ kind: 'user', path: 'skills' }] });
 * const { descriptor, trees } = exportRuntimeGlobals(skills, { refs: ['custom.units'], consumer: 'solver.codegen' });
 * console.log(Object.keys(descriptor.skills ?? {}), [...trees.keys()]);
 * // prints: [ 'custom.units' ] [ 'custom.units' ]
 * ```
 */
export function exportRuntimeGlobals(subsystem: SkillsSubsystem, job: ExportJob): ExportedGlobals {
  const { skills, rows, diagnostics } = subsystem.importSkillset(job.refs, job);
  const closure = skills.toSorted((a, b) => compareCodePoints(a.id, b.id));
  assertSize(closure);
  const shown = new Set(subsystem.catalog(job).ids);
  const inClosure = new Set(closure.map((skill) => skill.id));
  const descriptor = makePortableDescriptor(
    {
      customSkillsRoot: null,
      bundleRoot: null,
      agentsConfig: policyOf(subsystem.agentsConfig, job.consumer),
      overrides: subsystem.overrides.filter((id) => inClosure.has(id)),
      customNamespaces: subsystem.customNamespaces.filter((name) => closure.some((skill) => skill.namespace === name)),
      catalog: takeCatalog(
        job.consumer,
        closure.filter((skill) => shown.has(skill.id)),
      ),
    },
    closure,
  );
  return {
    descriptor,
    trees: new Map(closure.map((skill) => [skill.id, subsystem.skillTree(skill.id)])),
    rows,
    refs: rows.flatMap((row) => (row.status === 'loaded' && row.id !== undefined ? [row.id] : [])),
    active: skills.map((skill) => skill.id),
    diagnostics,
  };
}

/** The rules that apply to one consumer. The sandbox does not see the rules of others. */
function policyOf(config: AgentsConfig, consumer: string): AgentsConfig {
  const applying = Object.keys(config).filter((name) => name === EVERY_CONSUMER || name === consumer);
  return Object.fromEntries(applying.map((name) => [name, config[name] ?? {}]));
}

function assertSize(skills: readonly Skill[]): void {
  let bytes = 0;
  for (const skill of skills) for (const file of skill.files) bytes += file.bytes;
  if (bytes <= JOB_SKILL_BYTES) return;
  const message = `Cannot export the skills of a job: they may have at most ${JOB_SKILL_BYTES} bytes, got ${bytes}.`;
  throw new SkillcellError('skills.too-large', message);
}
