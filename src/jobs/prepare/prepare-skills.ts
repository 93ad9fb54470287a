import type { RuntimeGlobals } from '../../contracts/jobs/globals.ts';
import { DEFAULT_CONSUMER } from '../../contracts/jobs/job.ts';
import type { Diagnostic } from '../../contracts/errors/diagnostic.ts';
import type { SkillTrees, SourceRow } from '../../contracts/skills/skill.ts';
import { quotedText } from '../../contracts/text/quoted-text.ts';
import { exportRuntimeGlobals, runWithSkills, type SkillsSubsystem } from '../../skills/index.ts';
import { type CheckedRequest, invalid } from '../request/job-schema.ts';
import { requestedSkills, requireLoadable } from '../request/requested-skills.ts';

/** Skills of a job before it has a sandbox. */
export interface PreparedSkills {
  trees: SkillTrees;
  /** Ids of the skills, in load order. */
  active: string[];
  /** Digest of the instruction block that the entry must render too; null if no block is rendered. */
  instructionSha256: string | null;
  diagnostics: Diagnostic[];
  descriptor: RuntimeGlobals['SKILLS_DESCRIPTOR'];
  refs: string[];
  /** Sources pool after rendering. */
  pool: SourceRow[];
}

const NO_SKILLS: PreparedSkills = {
  descriptor: null,
  trees: new Map(),
  active: [],
  instructionSha256: null,
  diagnostics: [],
  refs: [],
  pool: [],
};

/** Resolves the job's skills with their imports. A reference that cannot be loaded fails the job: it would run without its rules. */
export function prepareSkills(
  request: CheckedRequest,
  subsystem: SkillsSubsystem | undefined,
  tools: readonly string[],
): PreparedSkills {
  const asked = request.skills ?? {};
  const refs = requestedSkills(request);
  if (refs.length === 0) return { ...NO_SKILLS, pool: asked.pool ?? [] };
  if (subsystem === undefined)
    throw invalid(`skills.refs cannot be loaded without skills, got ${refs.map(quotedText).join(', ')}`);
  const selection = { ...asked, refs, consumer: asked.consumer ?? DEFAULT_CONSUMER, tools };
  return runWithSkills(subsystem, () => {
    const exported = exportRuntimeGlobals(subsystem, selection);
    requireLoadable(exported.rows, selection.consumer, exported.diagnostics);
    const block = request.kind === 'codegen' ? subsystem.buildSkillsInstructionBlock(selection) : undefined;
    return {
      descriptor: exported.descriptor,
      trees: exported.trees,
      refs: exported.refs,
      active: exported.active,
      instructionSha256: block?.sha256 ?? null,
      pool: block?.pool ?? asked.pool ?? [],
      diagnostics: block?.diagnostics ?? exported.diagnostics,
    };
  });
}
