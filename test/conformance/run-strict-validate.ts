import { validateStrict } from '../../src/skills/parse/strict-validate.ts';
import { contentBytes } from './content-bytes.ts';
import type { Content } from './content-bytes.ts';
import { sortedCodes } from './sorted-codes.ts';

/** Checks one skill folder against the specification. */
export function runStrictValidate(input: unknown): Record<string, unknown> {
  const { folder, files } = input as { folder: string; files: Record<string, Content> };
  const fileName = ['SKILL.md', 'skill.md'].find((name) => Object.hasOwn(files, name));
  const content = fileName === undefined ? undefined : files[fileName];
  const diagnostics = validateStrict(
    folder,
    content === undefined ? null : contentBytes(content),
    fileName ?? 'SKILL.md',
  );
  return { valid: diagnostics.length === 0, codes: sortedCodes(diagnostics) };
}
