import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ModelGateway } from '../../models/model-gateway.ts';
import { EVAL_OUTPUT } from '../../evals/write-eval-output.ts';
import { makeFolder } from '../../durable/write-beneath.ts';
import { takenFolder } from '../options/places/eval-folder.ts';
import { writeFailed } from '../../durable/write-failed.ts';

/**
 * A gateway that creates the folder of an evaluation before the first request. Of two evaluations that start together, one gets the folder.
 * A folder that cannot be written costs no request.
 *
 * @returns the gateway; its `generate` throws `usage.invalid` if another evaluation was first, and `artifact.write-failed`
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
    throw writeFailed('write the results of the eval', folder, cause);
  }
}
