/** Writes `docs/schemas/` from the code that reads each format; with `--check` it only compares. */
import { fileURLToPath } from 'node:url';
import { sourcesFile, toolsFile } from './schemas/data-file-schemas.ts';
import { lenientFrontMatter, strictFrontMatter } from './schemas/front-matter-schemas.ts';
import type { NamedSchema } from './schemas/json-schema.ts';
import { descriptor, lock } from './schemas/stored-schemas.ts';
import { writeGenerated } from './write-generated.ts';

const FORMATS: Readonly<Record<string, () => NamedSchema>> = {
  skill: lenientFrontMatter,
  'skill-strict': strictFrontMatter,
  tools: toolsFile,
  sources: sourcesFile,
  descriptor,
  lock,
};

/** The text of each schema, by its name. */
export function schemaTexts(): Map<string, string> {
  return new Map(
    Object.entries(FORMATS).map(([name, make]) => {
      const { title, description, schema } = make();
      const whole = { $schema: 'https://json-schema.org/draft/2020-12/schema', title, description, ...schema };
      return [name, `${JSON.stringify(whole, null, 2)}\n`];
    }),
  );
}

if (import.meta.main) {
  for (const [name, page] of schemaTexts()) {
    writeGenerated({
      path: fileURLToPath(new URL(`../docs/schemas/${name}.json`, import.meta.url)),
      page,
      check: process.argv.includes('--check'),
    });
  }
}
