import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { inPackage } from '../../../contracts/package-root.ts';
import type { CommandContext } from '../../options/flags/command.ts';
import { usageError } from '../../terminal/usage-error.ts';

/** `skillcell skills schema`: prints the JSON Schema of a format, or lists the formats. */
export async function runSchema({ arguments: given, output, json }: CommandContext): Promise<number> {
  const folder = inPackage('docs/schemas');
  const [name] = given.operands;
  const names = readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .map((file) => basename(file, '.json'))
    .toSorted();
  const textOf = (of: string): string => readFileSync(join(folder, `${of}.json`), 'utf8');
  if (name !== undefined) {
    if (!names.includes(name)) throw usageError('NAME', `it must be one of ${names.join(', ')}`, name);
    await output.text(textOf(name));
    return 0;
  }
  const schemas = names.map((of) => ({ name: of, title: (JSON.parse(textOf(of)) as { title: string }).title }));
  if (json) await output.json({ schemas });
  else await output.text(schemas.map(({ name: of, title }) => `${of.padEnd(14)}${title}\n`).join(''));
  return 0;
}
