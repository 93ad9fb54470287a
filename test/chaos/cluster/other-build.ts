import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureRuntime, type RuntimeBundle } from '../../../src/sandboxes/runtime-bundle.ts';
import { copyCheckout } from '../../fixtures/checkout-copy.ts';

const TEST = fileURLToPath(new URL('../..', import.meta.url));
/** Parts of the tests that the programs of a cluster need. */
const NEEDED = ['chaos', 'fixtures/fleet', 'fixtures/tool-list.ts'];
/** A file that the bundle holds as it is. */
const CHANGED = 'runtime/etc/hosts';

/** Another build of skillcell. Its workers and the clients of this build do not meet. */
export interface OtherBuild extends Disposable {
  /** Folder of its checkout. */
  folder: string;
}

/** Copies this checkout, changes its runtime, and builds it. */
export async function makeOtherBuild(): Promise<OtherBuild> {
  const copy = copyCheckout(Object.fromEntries(NEEDED.map((part) => [`test/${part}`, join(TEST, part)])));
  appendFileSync(join(copy.folder, CHANGED), '# another build\n');
  const { ensureRuntime: ensureOther } = (await import(join(copy.folder, 'src/sandboxes/runtime-bundle.ts'))) as {
    ensureRuntime(): Promise<RuntimeBundle>;
  };
  if ((await ensureOther()).digest === (await ensureRuntime()).digest) throw new Error('Both builds are the same.');
  return copy;
}
