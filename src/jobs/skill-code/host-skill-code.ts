import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ToolCallError } from '../../tools/define/tool-errors.ts';
import { plainMessage } from '../../tools/define/outside-text.ts';
import type { Skill, SkillTree } from '../../contracts/skills/skill.ts';
import type { SkillCodeSpec } from '../../contracts/skills/skill-code-spec.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { withinDeadline } from '../../protocol/within-deadline.ts';
import { ensureRuntime } from '../../sandboxes/runtime-bundle.ts';
import { readDescriptions } from './described-tools.ts';
import type { SkillCopies } from './skill-copies.ts';
import { dependencyMissing, loadFailure, skillCodeFailure, type SkillSandbox } from './skill-sandbox.ts';

/** Loader of skill code from the runtime bundle, the same as in sandboxes. */
interface Loader {
  loadSkillCode(folder: string, spec: SkillCodeSpec): Promise<LoadedTool[]>;
}

interface LoadedTool {
  name: string;
  description: string;
  input: unknown;
  run(args: unknown, signal: AbortSignal): Promise<unknown>;
}

/** A bundler or loader that transforms this module does not transform modules loaded by this `require`, nor their imports. */
const require = createRequire(import.meta.url);

/** Loads the code of a trusted skill into this process, for one job, from a copy named by its digest. */
export function startSkillInHost(
  copies: SkillCopies,
  skill: Skill,
  tree: SkillTree,
  spec: SkillCodeSpec,
): SkillSandbox {
  const loaded = load(copies, skill, tree, spec);
  const described = loaded.then((tools) =>
    readDescriptions(
      skill.id,
      tools.map(({ name, description, input }) => ({ name, description, input })),
    ),
  );
  described.catch(() => undefined);
  return {
    described,
    async call(name, input, signal) {
      const tool = (await loaded).find((row) => row.name === name);
      try {
        return await withinDeadline(Promise.resolve(tool?.run(input, signal)), { signal });
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        const message = plainMessage(error instanceof Error ? error.message : error);
        throw error instanceof Error && error.name === 'ArgumentsFault'
          ? new ToolCallError('tool.invalid-arguments', `The arguments do not fit: ${message}.`)
          : skillCodeFailure(skill.id, message);
      }
    },
    hung: false,
    close: () => undefined,
  };
}

async function load(copies: SkillCopies, skill: Skill, tree: SkillTree, spec: SkillCodeSpec): Promise<LoadedTool[]> {
  const folder = await copies.folderOf(skill, tree);
  const { folder: bundle } = await ensureRuntime();
  const loader = join(bundle, 'languages/javascript/guest/skill-code/load-skill-code.mjs');
  try {
    const { loadSkillCode } = require(loader) as Loader;
    return await loadSkillCode(folder, spec);
  } catch (error) {
    if (SkillcellError.isInstance(error)) throw error;
    const { name, names, message } = (error instanceof Error ? error : new Error(String(error))) as Error & {
      names?: unknown;
    };
    throw name === 'MissingModules' && Array.isArray(names)
      ? dependencyMissing(skill.id, names)
      : loadFailure(skill.id, plainMessage(message));
  }
}
