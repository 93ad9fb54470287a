import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { MISSING_GIT, requireHere } from '../fixtures/describe-with.ts';
import { asShown } from '../fixtures/documents/console-session.ts';
import { missingIsolation } from '../fixtures/documents/missing-isolation.ts';
import { createNewcomer } from '../fixtures/documents/newcomer.ts';
import { publicSymbols } from '../fixtures/documents/public-symbols.ts';
import { FAULTY_PROGRAM, typeFaults } from '../fixtures/documents/type-faults.ts';

const TIMEOUT_MS = 120_000;

/** The output of an example, line by line; `…` stands for any text, as in documents. */
const PRINTS = /^\/\/ prints: (.*)$/gm;

const symbols = publicSymbols();
const examples = symbols.flatMap(({ name, file, examples: programs }) =>
  programs.map(({ place, text }, index) => ({
    ...{ name, file, place, text },
    folder: `${name}-${index}`,
    prints: Array.from(text.matchAll(PRINTS), ([, line]) => `${line}\n`).join(''),
  })),
);
const files = [...new Set(examples.map(({ file }) => file))].sort();
const isolation = await missingIsolation();

/** Runs the programs of its arguments in turn, each in its folder, and marks the output of each. */
const RUN_ALL = `
for (const folder of process.argv.slice(2)) {
  process.stdout.write('\\0' + folder + '\\0');
  process.chdir(import.meta.dirname + '/' + folder);
  await import('./' + folder + '/example.mts').catch((error) => console.log(error));
}
`;

describe('examples of the public functions and methods', () => {
  it('exist for each of them', () => {
    const names = symbols.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['createOrchestrator', 'Orchestrator.exec', 'SkillsSubsystem.match']));
    expect(
      symbols.filter((symbol) => symbol.examples.length === 0).map(({ name, file }) => `${name} of ${file}`),
    ).toEqual([]);
  });

  it('call their function and state their output', () => {
    for (const { name, place, text, prints } of examples) {
      expect(text, place).toMatch(new RegExp(`\\b${name.split('.').at(-1)}\\b`));
      expect(text, place).toMatch(/ from 'skillcell(\/\w+)?';$/m);
      expect(prints, place).not.toBe('');
    }
  });

  it('fit the types of the library', { timeout: TIMEOUT_MS }, async () => {
    const programs = examples.map(({ folder, text }) => ({ file: `${folder}/example.mts`, text }));
    const { files: faulty, output } = await typeFaults([...programs, FAULTY_PROGRAM]);
    expect(faulty, output).toEqual([FAULTY_PROGRAM.file]);
  });
});

describe.each(files)('examples of %s', (file) => {
  const own = examples.filter((example) => example.file === file);
  const printed = new Map<string, string>();

  /** Jobs need the default isolation level, and repositories need git. Returns the missing one. */
  const missingFor = (text: string): string | undefined => {
    if (/\.(exec|codegen|script|session|stream|warm)\(|createSandboxTools\(/.test(text)) return isolation;
    return text.includes('createGitStore(') ? MISSING_GIT : undefined;
  };

  beforeAll(async () => {
    using newcomer = createNewcomer();
    const here = own.filter(({ text }) => missingFor(text) === undefined);
    for (const { folder, text } of here) newcomer.save(join(folder, 'example.mts'), text);
    newcomer.save('run-all.mjs', RUN_ALL);
    const folders = here.map(({ folder }) => `'${folder}'`).join(' ');
    const { output } = await newcomer.paste(`node run-all.mjs ${folders}`);
    const parts = output.split('\0').slice(1);
    for (let index = 0; index < parts.length; index += 2) printed.set(parts[index] ?? '', parts[index + 1] ?? '');
  }, TIMEOUT_MS);

  it.for(own.map((example) => [example.name, example.place, example] as const))(
    '%s at %s runs',
    ([, place, { folder, text, prints }], context) => {
      requireHere(context, missingFor(text));
      const came = printed.get(folder);
      expect(came, place).toBeDefined();
      expect(asShown(prints, came ?? ''), place).toBe(prints);
    },
  );
});
