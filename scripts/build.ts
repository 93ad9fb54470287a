/** Builds `dist/`: modules by rolldown, their declarations by tsc, the runtime bundle by esbuild, the console by Vite. */
import { execa } from 'execa';
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildModules } from './build-modules.ts';
import { bundledLicenses, packageFolder } from './bundled-licenses.ts';
import { buildRuntime, bundlePackage } from './build-runtime.ts';
import { buildWeb } from './build-web.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Rebuilds `dist/`; the old folder stays until the new one is complete.
 *
 * @returns false if the compiler failed; its output goes to stderr
 */
export async function buildPackage(): Promise<boolean> {
  await mkdir(join(root, '.tmp'), { recursive: true });
  const staging = await mkdtemp(join(root, '.tmp', 'build-'));
  try {
    const fresh = join(staging, 'dist');
    const { exitCode } = await execa(
      process.execPath,
      ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--emitDeclarationOnly', '--outDir', fresh],
      {
        cwd: root,
        stdout: process.stderr,
        stderr: 'inherit',
        reject: false,
      },
    );
    if (exitCode !== 0) return false;
    const bundled = await buildModules(fresh);
    await buildRuntime(join(fresh, 'runtime'));
    for (const file of await readdir(join(fresh, 'runtime/packages'))) {
      const modules = await bundlePackage(file.replace(/\.cjs$/, ''), join(staging, 'again', file));
      for (const path of modules) bundled.add(packageFolder(path) ?? root);
    }
    for (const path of await buildWeb(join(fresh, 'web'))) bundled.add(packageFolder(path) ?? root);
    bundled.delete(root);
    await writeFile(join(fresh, 'licenses.txt'), await bundledLicenses(bundled));
    await rm(join(root, 'dist'), { recursive: true, force: true });
    await rename(fresh, join(root, 'dist'));
    return true;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

if (import.meta.main && !(await buildPackage())) process.exitCode = 1;
