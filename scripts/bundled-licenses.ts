import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const LICENSE = /^(?:licen[cs]e|copying|notice)/i;

/** The licenses of packages that become part of `dist/`, and of all their dependencies, as one text. */
export async function bundledLicenses(names: Iterable<string>): Promise<string> {
  const waiting = [...new Set(names)];
  const texts = new Map<string, string>();
  for (const name of waiting) {
    if (texts.has(name)) continue;
    const folder = join(root, 'node_modules', name);
    const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
      version: string;
      license?: string;
      dependencies?: Record<string, string>;
    };
    const files = (await readdir(folder)).filter((file) => LICENSE.test(file)).toSorted();
    const bodies = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
    texts.set(name, [`${name} ${manifest.version}: ${manifest.license ?? 'see below'}`, ...bodies].join('\n\n'));
    waiting.push(...Object.keys(manifest.dependencies ?? {}));
  }
  const sorted = [...texts].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text.trimEnd());
  return `${sorted.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}
