import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { schemaTexts } from '../../scripts/generate-schemas.ts';
import { parseLock, writeLock } from '../../src/library/lock/format/lock-format.ts';
import { loadSkillsSubsystem } from '../../src/skills/index.ts';
import { checkDescriptor } from '../../src/skills/descriptor/check-descriptor.ts';
import { readDataFile } from '../../src/skills/parse/yaml/data-file.ts';
import { readFrontMatter } from '../../src/skills/parse/front-matter.ts';
import { readSourcesFile } from '../../src/skills/parse/sources-file.ts';
import { readToolsFile } from '../../src/skills/parse/tools-file.ts';
import { parseSkillMarkdown } from '../../src/skills/parse/parse-skill.ts';
import { validateStrict } from '../../src/skills/parse/strict-validate.ts';
import { dataOf } from '../../src/skills/parse/yaml/yaml-values.ts';
import { decodeText } from '../../src/skills/text/decode-text.ts';
import { skillDigest } from '../../src/skills/text/digest.ts';
import { type Content, contentBytes } from '../conformance/content-bytes.ts';
import { readVectors } from '../conformance/vectors.ts';

const path = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const ajv = new Ajv2020({
  allErrors: true,
  strict: true,
  strictTypes: false,
  strictRequired: false,
  allowUnionTypes: true,
});
const judges = new Map(
  readdirSync(path('docs/schemas')).map((file) => [
    file.replace('.json', ''),
    ajv.compile(JSON.parse(readFileSync(join(path('docs/schemas'), file), 'utf8')) as object),
  ]),
);

/** Whether a schema accepts a value. */
function takes(name: string, value: unknown): boolean {
  const judge = judges.get(name);
  if (judge === undefined) throw new Error(`No schema ${name}.`);
  return judge(value);
}

const vectors = new Map(readVectors(path('test/conformance/vectors')).map(({ name, cases }) => [name, cases]));

/** The cases of a file of vectors, with the reader's verdict on each. */
function judged(file: string, row: (input: never) => Judged | undefined): (Judged & { id: string })[] {
  return (vectors.get(file) ?? []).flatMap(({ id, input }) => {
    const one = row(input as never);
    return one === undefined ? [] : [{ id, ...one }];
  });
}

interface Judged {
  value: unknown;
  /** The reader's codes that a schema can express. */
  codes: string[];
}

/** The ids of cases on which the schema and the reader disagree. */
function otherwise(name: string, cases: readonly (Judged & { id: string })[]): string[] {
  return cases.filter(({ value, codes }) => takes(name, value) !== (codes.length === 0)).map(({ id }) => id);
}

function frontMatter(bytes: Uint8Array, recover: boolean): unknown {
  const decoded = decodeText(bytes);
  if ('fault' in decoded) return undefined;
  const read = readFrontMatter(decoded.text, { recover });
  return read.ok ? dataOf(read.root) : undefined;
}

const codesOf = (diagnostics: readonly { code: string }[], known: (code: string) => boolean): string[] =>
  diagnostics.map(({ code }) => code).filter(known);

describe('schemas of docs/schemas', () => {
  it('match the code', () => {
    const committed = readdirSync(path('docs/schemas')).map((file) => file.replace('.json', ''));
    expect(committed.toSorted()).toEqual([...schemaTexts().keys()].toSorted());
    for (const [name, text] of schemaTexts())
      expect(readFileSync(path(`docs/schemas/${name}.json`), 'utf8'), name).toBe(text);
  });

  it('accept exactly the frontmatter of all vectors that the reader accepts', () => {
    const cases = judged('front-matter', ({ file, folder = 'alpha' }: { file: Content; folder?: string }) => {
      const value = frontMatter(contentBytes(file), true);
      const { diagnostics } = parseSkillMarkdown(contentBytes(file), { folder });
      const known = (code: string): boolean => code === 'skill.field-type' || code === 'skill.description-missing';
      return value === undefined ? undefined : { value, codes: codesOf(diagnostics, known) };
    });
    expect(cases.filter(({ codes }) => codes.length > 0).length).toBeGreaterThan(5);
    expect(otherwise('skill', cases)).toEqual([]);
  });

  it('accept exactly the frontmatter of all vectors that the specification accepts', () => {
    const cases = judged('strict-validate', ({ folder, files }: { folder: string; files: Record<string, Content> }) => {
      const content = files['SKILL.md'];
      const value = content === undefined ? undefined : frontMatter(contentBytes(content), false);
      if (content === undefined || value === undefined) return undefined;
      const diagnostics = validateStrict(folder, contentBytes(content), 'SKILL.md');
      return {
        value,
        codes: codesOf(diagnostics, (code) => code !== 'strict.name-folder' && code !== 'strict.bom'),
      };
    });
    expect(cases.filter(({ codes }) => codes.length > 0).length).toBeGreaterThan(10);
    // A schema cannot normalize a name to NFKC.
    expect(otherwise('skill-strict', cases)).toEqual(['strict-validate-022']);
    expect(takes('skill-strict', { name: 'cafe\u0301'.normalize('NFKC'), description: 'A test skill' })).toBe(true);
  });

  it.each(['tools', 'sources'])(
    'accept exactly the %s.yaml of all vectors of which the reader drops no entry',
    (name) => {
      const cases = judged('tools-sources', ({ file, content }: { file: string; content: Content }) => {
        const bytes = contentBytes(content);
        const read = readDataFile(bytes);
        if (file !== `${name}.yaml` || !read.ok) return undefined;
        const { diagnostics } = name === 'tools' ? readToolsFile(bytes) : readSourcesFile(bytes);
        const known = (code: string): boolean => code !== 'url.not-http' && code !== 'sources.duplicate-sid';
        return { value: dataOf(read.root), codes: codesOf(diagnostics, known) };
      });
      expect(cases.length).toBeGreaterThan(5);
      expect(cases.filter(({ codes }) => codes.length > 0)).not.toEqual([]);
      expect(otherwise(name, cases)).toEqual([]);
    },
  );

  it('accept each well-formed descriptor of the vectors', () => {
    const cases = judged('descriptor', ({ descriptor: value }: { descriptor?: unknown }) => {
      if (value === undefined) return undefined;
      const codes = codesOf(checkDescriptor(value).diagnostics, (code) =>
        /^descriptor\.(?:invalid|schema)$/.test(code),
      );
      return { value, codes };
    });
    const accepted = cases.filter(({ codes }) => codes.length === 0);
    expect(accepted.length).toBeGreaterThan(5);
    expect(otherwise('descriptor', accepted)).toEqual([]);
    const refused = [null, [], { custom_skills_root: 1 }, { overrides: 'a' }, { more: 1 }, { schema: 'other@1' }];
    for (const value of refused) expect(takes('descriptor', value), JSON.stringify(value)).toBe(false);
  });

  it('accept the built-in skills, their files and their descriptor', () => {
    const subsystem = loadSkillsSubsystem({ builtinRoot: path('skills') });
    expect(subsystem.skills.length).toBeGreaterThan(3);
    for (const { id, dir } of subsystem.skills) {
      const bytes = (file: string): Buffer => readFileSync(join(path('skills'), dir, file));
      expect(takes('skill', frontMatter(bytes('SKILL.md'), true)), id).toBe(true);
      for (const name of ['tools', 'sources']) {
        if (!existsSync(join(path('skills'), dir, `${name}.yaml`))) continue;
        const read = readDataFile(bytes(`${name}.yaml`));
        expect(read.ok && takes(name, dataOf(read.root)), `${id} ${name}`).toBe(true);
      }
    }
    expect(takes('descriptor', subsystem.descriptor({ portable: true }))).toBe(true);
    expect(takes('descriptor', subsystem.descriptor())).toBe(true);
  });

  it('accept a lock file, but none with another key', () => {
    const files = [{ path: 'SKILL.md', digest: `sha256:${'0'.repeat(64)}`, bytes: 1, executable: false }];
    const digest = skillDigest(files);
    const origin = { type: 'git', source: 'https://example.com/a.git', folder: 'a', commit: 'a'.repeat(40) } as const;
    const one = { id: 'custom.a', version: null, place: '.agents/skills/a', origin, digest, files };
    const text = writeLock(new Map([['custom.a', { ...one, approval: { by: 'desk', digest } }]]));
    expect(parseLock(Buffer.from(text), 'lock').size).toBe(1);
    const value = JSON.parse(text) as { skills: Record<string, object> };
    expect(takes('lock', value)).toBe(true);
    expect(takes('lock', { ...value, times: [] })).toBe(false);
    expect(takes('lock', { ...value, skills: { 'custom.a': { ...value.skills['custom.a'], digest: 'md5:1' } } })).toBe(
      false,
    );
  });
});
