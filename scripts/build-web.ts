import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { build } from 'vite';

const root = fileURLToPath(new URL('../web', import.meta.url));

/**
 * Builds the console of the service from `web/`.
 *
 * @param folder destination, which must not exist before
 * @returns paths of the modules in it
 */
export async function buildWeb(folder: string): Promise<string[]> {
  const modules = new Set<string>();
  const { NODE_ENV: before } = process.env;
  // With another value, as in a test, Vite takes the build of React for developers, and leaves the value that it has set.
  process.env['NODE_ENV'] = 'production';
  try {
    await buildInto(folder, modules);
  } finally {
    if (before === undefined) delete process.env['NODE_ENV'];
    else process.env['NODE_ENV'] = before;
  }
  return [...modules];
}

async function buildInto(folder: string, modules: Set<string>): Promise<void> {
  await build({
    configFile: false,
    root,
    logLevel: 'warn',
    base: '/',
    // The server replaces it in each answer.
    html: { cspNonce: 'CSP_NONCE' },
    build: {
      outDir: folder,
      emptyOutDir: false,
      target: 'es2023',
      // Browsers that know `light-dark()`.
      cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      chunkSizeWarningLimit: 1_000,
    },
    plugins: [
      react(),
      {
        name: 'list-modules',
        generateBundle() {
          for (const id of this.getModuleIds()) modules.add(id);
        },
      },
    ],
  });
}
