import { fileURLToPath } from 'node:url';

/**
 * The folder of the built console. A checkout builds it if a source has changed.
 *
 * @param say takes a line for people if that happens
 */
export async function consoleFolder(say: (line: string) => Promise<void>): Promise<string> {
  if (!import.meta.url.endsWith('.ts')) return fileURLToPath(new URL('../web', import.meta.url));
  // A development script builds it. The package lacks the script, so the compiler must not follow this path.
  const script = new URL('../../scripts/checkout-web.ts', import.meta.url).href;
  const { checkoutWeb } = (await import(script)) as { checkoutWeb: typeof consoleFolder };
  return await checkoutWeb(say);
}
