import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ModelGateway } from '../../models/model-gateway.ts';
import { EVAL_OUTPUT } from '../../evals/write-eval-output.ts';
import { makeFolder } from '../../durable/write-beneath.ts';
import { takenFolder } from '../options/places/eval-folder.ts';
import { writeFailed } from '../../durable/write-failed.ts';

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
    throw writeFailed('write what an eval left', folder, cause);
  }
}
