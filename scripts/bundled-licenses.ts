import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const LICENSE = /^(?:licen[cs]e|copying|notice)/i;

/** The folder of the package that holds a module; undefined for a module of ours. */
export function packageFolder(path: string): string | undefined {
  return /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(path)?.[0];
}

/** The licenses of packages, as one text. */
export async function bundledLicenses(folders: Iterable<string>): Promise<string> {
  const texts = await Promise.all([...folders].map(licenseText));
  return `${texts.toSorted().join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}

async function licenseText(folder: string): Promise<string> {
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Record<string, unknown>;
  const files = (await readdir(folder)).filter((file) => LICENSE.test(file)).toSorted();
  const bodies = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  const [name, version, license] = ['name', 'version', 'license'].map((key) => String(manifest[key] ?? 'see below'));
  return [`${name} ${version}: ${license}`, ...bodies].join('\n\n').trimEnd();
}
