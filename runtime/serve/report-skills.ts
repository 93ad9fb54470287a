import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RuntimeGlobals } from '../../src/contracts/jobs/globals.ts';
import { DEFAULT_CONSUMER } from '../../src/contracts/jobs/job.ts';
import type { SkillTree, SkillTrees } from '../../src/contracts/skills/skill.ts';
import { SkillcellError } from '../../src/contracts/errors/skillcell-error.ts';
import { JOB_SKILL_BYTES } from '../../src/skills/export-runtime-globals.ts';
import { listFolder } from '../../src/skills/load/files/list-folder.ts';
import { listSkillFiles } from '../../src/skills/load/files/list-skill-files.ts';
import { readRegularFile } from '../../src/skills/load/files/read-regular-file.ts';
import { setUnchecked } from '../../src/skills/load-subsystem.ts';

/**
 * Rebuilds the skills from `RUNTIME_GLOBALS_FILE`, else from `SKILLS_DESCRIPTOR`, and writes one JSON document: the
 * active skills and their block, or the error. For runtimes that bring their own isolation.
 *
 * A portable descriptor takes its bytes from `SKILLS_DIR`, `<namespace>/<skill id>/…`; the two-field form names a folder.
 *
 * @returns the exit code
 */
export function reportSkills(environment: NodeJS.ProcessEnv, write: (text: string) => void): number {
  try {
    const globals = readGlobals(environment);
    const descriptor = globals.SKILLS_DESCRIPTOR ?? {};
    const arrived =
      'skills' in descriptor ? readTrees(environment['SKILLS_DIR'] ?? '/skills', descriptor.skills ?? {}) : new Map();
    const subsystem = setUnchecked(descriptor, { arrived });
    const selection = globals.JOB?.skills;
    const consumer = selection?.consumer ?? DEFAULT_CONSUMER;
    const refs = selection?.refs ?? subsystem.catalog({ consumer }).ids;
    const block = subsystem.buildSkillsInstructionBlock({
      ...selection,
      refs: [...refs],
      consumer,
      pool: globals.SOURCES_POOL ?? [],
    });
    const { active, sha256, text, rows, pool, diagnostics } = block;
    write(`${JSON.stringify({ active, instructionSha256: sha256, text, rows, sources: pool, diagnostics })}\n`);
    return 0;
  } catch (error) {
    const known = SkillcellError.isInstance(error)
      ? error
      : new SkillcellError(
          'skills.descriptor-invalid',
          `Cannot read the runtime globals: ${(error as Error).message}.`,
        );
    write(`${JSON.stringify({ error: { code: known.code, message: known.message, hint: known.hint } })}\n`);
    return known.entry.exitCode;
  }
}

function readGlobals(environment: NodeJS.ProcessEnv): Partial<RuntimeGlobals> {
  const file = environment['RUNTIME_GLOBALS_FILE'];
  if (file !== undefined) return JSON.parse(readFileSync(file, 'utf8')) as Partial<RuntimeGlobals>;
  const descriptor = environment['SKILLS_DESCRIPTOR'];
  if (descriptor !== undefined)
    return { SKILLS_DESCRIPTOR: JSON.parse(descriptor) as RuntimeGlobals['SKILLS_DESCRIPTOR'] };
  throw new Error('neither RUNTIME_GLOBALS_FILE nor SKILLS_DESCRIPTOR is set');
}

/** All regular files below the folders of the listed skills, so that unlisted files are found as well. */
function readTrees(folder: string, listed: Record<string, unknown>): SkillTrees {
  const trees: SkillTrees = new Map();
  for (const id of Object.keys(listed)) {
    const skillFolder = join(folder, id.replace('.', '/'));
    const tree: SkillTree = new Map();
    trees.set(id, tree);
    if (!existsSync(skillFolder)) continue;
    for (const path of listSkillFiles(skillFolder, listFolder(skillFolder), '').paths ?? []) {
      const { content, executable } = readRegularFile(join(skillFolder, path), {
        keep: JOB_SKILL_BYTES,
        limit: JOB_SKILL_BYTES,
      });
      tree.set(path, { bytes: content ?? new Uint8Array(), executable });
    }
  }
  return trees;
}
