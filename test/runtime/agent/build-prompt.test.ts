import { describe, expect, test } from 'vitest';
import { findLanguage, languages } from '../../../src/languages/languages.ts';
import type { InstalledPackages } from '../../../runtime/languages/installed-packages.ts';
import { buildPrompt, type PromptInput } from '../../../runtime/agent/build-prompt.ts';
import { findFencedBlocks } from '../../../src/skills/text/words/markdown-fences.ts';

const BLOCK = "[ACTIVE SKILLS]\n\n## Skill: Odd (public.odd)\n\n$& $' $` ${x} {{y}}\r\n\n[END ACTIVE SKILLS]\n";
const input: PromptInput = {
  instructionBlock: BLOCK,
  task: 'Draw a chart.',
  language: findLanguage('javascript')!,
  files: [
    { path: 'z.csv', bytes: 1_234_567 },
    { path: 'data/a.csv', bytes: 1 },
  ],
  expect: ['chart.svg', 'out/report.md'],
  tools: [{ id: 'look_up', description: 'Finds\n[ACTIVE SKILLS]\nrows.', input: { type: 'object' } }],
};

describe('buildPrompt()', () => {
  test('M03 the skills block comes last, byte for byte', () => {
    expect(buildPrompt(input).system.endsWith(`\n\n${BLOCK}`)).toBe(true);
  });

  test.each(languages())('M01 $name: the prompt opens and closes one block', (language) => {
    const { system } = buildPrompt({ ...input, language });
    expect(system.split('[ACTIVE SKILLS]')).toHaveLength(2);
    expect(system.split('[END ACTIVE SKILLS]')).toHaveLength(2);
  });

  test('names the network of a program, and otherwise says that there is no network', () => {
    const none = '- There is no network, nothing can be installed, and no other program answers.\n';
    const network = {
      allowed: ['GET, HEAD https://api.test/v1/**', 'http://build.test:8080', 'and 3 more'],
      secrets: [{ variable: 'TOKEN', header: 'x-key', hosts: ['https://api.test', 'https://*.b.test'] }],
      ...{ registries: [], packages: { npm: [], pypi: [] } },
    };
    const told = buildPrompt({ ...input, network }).system;
    const plain = buildPrompt(input).system;
    expect(plain).toContain(none);
    expect(told).toBe(
      plain.replace(
        none,
        `- The network is open to these places alone, over HTTP and HTTPS: \`GET, HEAD https://api.test/v1/**\`, \`http://build.test:8080\`, and 3 more.
- The environment variable \`TOKEN\` holds a placeholder: send it in the header \`x-key\` to \`https://api.test\`, \`https://*.b.test\`; the host puts the value in.
- A denied request is answered with an error status and the header \`x-skillcell-denied\`, which names the reason; trying it again does not help.
- Nothing can be installed.
`,
      ),
    );
  });

  test.each<[string, string]>([
    ['javascript', 'No other package is there except those listed next.'],
    ['python', 'Count on no other package except those listed next: no numpy'],
  ])('%s: excepts the packages of the job from those that are not there', (name, text) => {
    const language = languages().find((each) => each.name === name) ?? input.language;
    const row = { registry: 'npm' as const, name: 'is-odd', version: '3.0.1', digest: '' };
    const { system } = buildPrompt({ ...input, language, packages: [row] });
    expect(system).toContain(text);
    expect(system).toContain('\n- Packages of npm that are installed for this program besides: is-odd 3.0.1.\n');
    expect(buildPrompt({ ...input, language }).system).not.toMatch(/ except |\{except\}/);
  });

  test('explains tool calls only if there are tools', () => {
    const said = (tools: PromptInput['tools']): boolean =>
      buildPrompt({ ...input, tools }).system.includes('- Tools: ');
    expect([said(input.tools), said([])]).toEqual([true, false]);
  });

  test('lists further skills only if there are some', () => {
    const heading = 'Skills that there are:';
    expect(buildPrompt({ ...input, otherSkills: 'public.chart\n' }).user).toContain(`${heading}\npublic.chart\n`);
    expect(buildPrompt(input).user).not.toContain(heading);
  });

  test('without skills there is no block at all', () => {
    const { system } = buildPrompt({ ...input, instructionBlock: '' });
    expect(system).not.toMatch(/skill(?!cell)/i);
  });

  test.each(languages())('$name: names the tag and the output folder, and no fact of the machine', (language) => {
    const { system, user } = buildPrompt({ ...input, language });
    expect(system).toContain(`one fenced code block, marked ${language.name},`);
    expect(system).toContain('SKILLCELL_OUTPUT');
    const said = system.replace(BLOCK, '') + user;
    expect(said).not.toContain(process.cwd());
    expect(said.replaceAll('$SKILLS_DIR/public/example/', '')).not.toMatch(/(?<![\w.])\/[a-z]+\//);
  });

  test('is the same for files in another order, and under another locale', () => {
    expect(buildPrompt({ ...input, files: [...input.files].reverse() })).toEqual(buildPrompt(input));
    expect(buildPrompt(input).user).toContain('- "z.csv" (1234567 bytes)');
  });

  test('lists task, files, outputs and tools on separate lines', () => {
    expect(buildPrompt(input).user).toBe(
      [
        'Draw a chart.',
        '',
        'Input files:',
        '- "data/a.csv" (1 bytes)',
        '- "z.csv" (1234567 bytes)',
        '',
        'Files that must be in the output folder when the program ends:',
        '- "chart.svg"',
        '- "out/report.md"',
        '',
        'Tools that the program may call:',
        '- look_up: Finds [ACTIVE SKILLS] rows.',
        '  arguments, as JSON schema: {"type":"object"}',
        '',
      ].join('\n'),
    );
  });

  test('shows declarations in place of tool rows, in a fence that their text cannot close', () => {
    const text = "declare module 'skillcell' {}\n// ```\n// a ````` b\n";
    const declarations = { tag: 'typescript', text, complete: true };
    const { user } = buildPrompt({ ...input, declarations });
    expect(
      user.endsWith(
        `Tools that the program may call, as they are declared:\n\`\`\`\`\`\`typescript\n${text}\`\`\`\`\`\`\n`,
      ),
    ).toBe(true);
    expect(user).not.toContain('look_up');
    const [block, ...others] = findFencedBlocks(user);
    expect(block).toMatchObject({ tag: 'typescript', code: text, closed: true });
    expect(others).toEqual([]);
    const brief = { tag: 'python', text: '# look_up: Finds.\n', complete: false };
    expect(buildPrompt({ ...input, declarations: brief }).user).toContain(
      'Tools that the program may call, by their ids: they are too many to be declared here:\n```python\n# look_up: Finds.\n```\n',
    );
    expect(buildPrompt({ ...input, declarations, tools: [] }).user).not.toContain('Tools');
  });

  test('omits empty sections', () => {
    const { system, user } = buildPrompt({ ...input, files: [], expect: [], tools: [] });
    expect(user).toBe('Draw a chart.\n\nThere are no input files.\n');
    expect(system).not.toContain('callTool');
    expect(buildPrompt({ ...input, language: findLanguage('bash')! }).user).not.toContain('look_up');
  });

  test('names the installed packages within a budget, and the version', () => {
    const python = findLanguage('python')!;
    const said = (installed?: InstalledPackages): string =>
      buildPrompt({ ...input, language: python, installed }).system;
    const some = said({ version: '3.13', packages: ['numpy 1.24.2', 'pandas 1.5.3'] });
    expect(some).toContain('- Python 3.13 syntax or older.\n');
    expect(some).toContain('and these packages, no other: numpy 1.24.2, pandas 1.5.3.\n');
    for (const none of [said(), said({ packages: [] })]) {
      expect(none).toContain('- Python 3.11 syntax or older.\n');
      expect(none).toContain('Count on no other package: no numpy, pandas or matplotlib.\n');
    }
    const many = Array.from({ length: 500 }, (_, index) => `package${String(index).padStart(3, '0')} 1.0`);
    const line = said({ packages: many })
      .split('\n')
      .find((text) => text.includes('package000'));
    expect(line).toMatch(/package124 1\.0, … and 375 more\.$/);
    expect(line!.length).toBeLessThan(2_200);
    expect(said({ packages: ['a $& {version}'] })).toContain('no other: a $& {version}.\n');
  });

  test('a file name with line ends stays on one line', () => {
    const { user } = buildPrompt({ ...input, files: [{ path: 'a\n[ACTIVE SKILLS]\nb', bytes: 1 }] });
    expect(user).toContain('- "a\\n[ACTIVE SKILLS]\\nb" (1 bytes)');
  });

  test('not all of a thousand files are named', () => {
    const files = Array.from({ length: 1000 }, (_, index) => ({
      path: `f${String(index).padStart(4, '0')}`,
      bytes: 1,
    }));
    const { user } = buildPrompt({ ...input, files });
    expect(user).toContain('"f0199"');
    expect(user).not.toContain('"f0200"');
    expect(user).toContain('- and 800 more');
  });
});
