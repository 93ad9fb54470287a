import { describe, expect, test } from 'vitest';
import { parseSkillMarkdown } from '../../../src/skills/parse/parse-skill.ts';
import { validateStrict } from '../../../src/skills/parse/strict-validate.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function read(block: string): { description: string | undefined; codes: string[] } {
  const { fields, diagnostics } = parseSkillMarkdown(bytes(`---\n${block}\n---\nBody.\n`), { folder: 'a' });
  return {
    description: fields.description,
    codes: diagnostics.map(({ code, line, column }) => `${code} ${line}:${column}`),
  };
}

describe('quoted values that continue no deeper than their key', () => {
  test.each<[string, string, string]>([
    ['at column 0', 'description: "a\nb"', 'a b'],
    ['with an escape and an empty line', 'description: "a \\"x\\"\n\nb: c"', 'a "x"\nb: c'],
    ['with an escaped line end', 'description: "a \\\nb"', 'a b'],
    ['in single quotes', "description: 'it''s\n# b'''", "it's # b'"],
    ['whose next line begins with a tab', 'description: "a\n\tb"', 'a b'],
    ['with a comment behind', 'description: "a\nb" # note', 'a b'],
    ['in a list of maps', 'description: x\nz:\n  - k: "a\n  b"', 'x'],
    ['together with a plain value that holds a colon', 'author: b: c\ndescription: "a\nb"', 'a b'],
  ])('%s are read', (_name, block, description) => {
    const { codes, ...rest } = read(block);
    expect(rest).toEqual({ description });
    expect(codes).toEqual([expect.stringMatching(/^frontmatter\.recovered \d+:\d+$/)]);
    expect(validateStrict('a', bytes(`---\nname: a\n${block}\n---\n`), 'SKILL.md')[0]?.code).toBe('frontmatter.yaml');
  });

  test('deeper lines stay as they are, and their value needs no repair', () => {
    expect(read('description: "a\n  b"')).toEqual({ description: 'a b', codes: [] });
  });

  test.each([
    ['without a closing quote', 'description: "a\nb\nversion: 1'],
    ['with text behind the closing quote', 'description: "a\nb" c'],
    ['in a list, without a key', 'description: x\nz:\n- "a\nb"'],
  ])('%s is not repaired', (_name, block) => {
    expect(read(block)).toEqual({ description: undefined, codes: [expect.stringMatching(/^frontmatter\.yaml /)] });
  });
});

describe('faults of YAML have place, explanation and advice', () => {
  test.each<[string, string, string]>([
    ['description: **bold** text', '2:23', 'a value that begins with * is an alias to YAML; put it in quotes'],
    ['description: *ref', '2:14', 'a value that begins with * is an alias to YAML; put it in quotes'],
    ['description: a\n...\nname: b', '4:1', 'a second document begins here'],
    ['description: @x', '2:14', 'a value cannot begin with this character; put it in quotes'],
    ['description: !tag x', '2:14', 'a value that begins with ! is a tag to YAML; put it in quotes'],
    ['description: "a', '', 'a text that begins with " is not closed; add the quote'],
    ['description: [a', '', 'a bracket is not closed'],
    ['description: a\ndescription: b', '3:1', 'the key description is there twice; keep one'],
    ['description: "\\q"', '2:', 'a backslash in double quotes begins an escape that YAML does not have'],
    ['description: a\n\tb: c', '3:1', 'a tab'],
    ['description: a\nno colon here', '3:1', 'the line has no colon; write `key: value`'],
  ])('%j', (block, place, sentence) => {
    const { diagnostics } = parseSkillMarkdown(bytes(`---\n${block}\n---\n`), { folder: 'a' });
    expect(diagnostics.map(({ code }) => code)).toEqual(['frontmatter.yaml']);
    const [{ message, line, column } = { message: '' }] = diagnostics;
    expect(message).toContain(sentence);
    expect(message).not.toMatch(/YAML\.\w+|please/i);
    expect(`${line}:${column}`.startsWith(place)).toBe(true);
  });
});
