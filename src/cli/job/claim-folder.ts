import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ModelGateway } from '../../broker/model-gateway.ts';
import { SkillcellError } from '../../contracts/skillcell-error.ts';
import { EVAL_OUTPUT } from '../../evals/write-eval-output.ts';
import { makeFolder } from '../../orchestrator/write-beneath.ts';
import { takenFolder } from '../options/eval-folder.ts';

/**
 * A gateway that takes the folder of an evaluation before the first request: of two that begin together one gets it, and a folder in which nothing
 * can be made costs no request.
 *
 * @returns the gateway; its `generate` throws `usage.invalid` where another one was first, and `artifact.write-failed`
 */
export function claimFolder(inner: ModelGateway, folder: string): ModelGateway {
  let claimed: Promise<void> | undefined;
  return {
    id: inner.id,
    async generate(request, options) {
      await (claimed ??= claim(folder));
      return await inner.generate(request, options);
    },
  };
}

async function claim(folder: string): Promise<void> {
  try {
    await makeFolder(folder);
    await mkdir(join(folder, EVAL_OUTPUT[0]));
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'error';
    if (code === 'EEXIST') throw takenFolder(folder);
    const message = `Cannot write what an eval left: ${code}, got ${JSON.stringify(folder)}.`;
    throw new SkillcellError('artifact.write-failed', message, { cause });
  }
}
