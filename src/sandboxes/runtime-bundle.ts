import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod/mini';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';

/** The runtime inside a sandbox: the entry and the files that it needs. */
export interface RuntimeBundle {
  /** Absolute path; holds `entry.cjs` and its parts, `languages/`, `launch/` and `packages/`. */
  folder: string;
  /** `sha256:<64 hex>` over all files. */
  digest: string;
  /** 64 hex digits by path below the folder. */
  files: Record<string, string>;
}

/** Schema of a bundle given by a caller. */
export const bundleSchema: z.ZodMiniType<RuntimeBundle> = z.strictObject({
  folder: z.string().check(z.minLength(1)),
  digest: z.string().check(z.minLength(1)),
  files: z.record(z.string(), z.string()),
});

/**
 * The runtime bundle of this copy of skillcell: from the package, or in a checkout, built from the current sources.
 *
 * @returns its folder, digest and files
 * @throws SkillcellError `runtime.bundle-missing`
 * @example
 * ```ts
 * import { ensureRuntime } from 'skillcell';
 *
 * const { digest, files } = await ensureRuntime();
 * console.log(/^sha256:[0-9a-f]{64}$/.test(digest), 'entry.cjs' in files);
 * // prints: true true
 * ```
 */
export async function ensureRuntime(): Promise<RuntimeBundle> {
  try {
    const folder = await runtimeFolder();
    const manifest = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')) as Omit<RuntimeBundle, 'folder'>;
    return { folder, ...manifest };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new SkillcellError('runtime.bundle-missing', `Cannot load the runtime bundle: ${reason}.`, { cause });
  }
}

async function runtimeFolder(): Promise<string> {
  if (!import.meta.url.endsWith('.ts')) return fileURLToPath(new URL('../runtime', import.meta.url));
  // A development script builds it. The package lacks the script, so the compiler must not follow this path.
  const script = new URL('../../scripts/checkout-runtime.ts', import.meta.url).href;
  const { checkoutRuntime } = (await import(script)) as { checkoutRuntime: () => Promise<string> };
  return checkoutRuntime();
}
