import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Language, LanguageDefinition } from '../../../src/contracts/jobs/language.ts';
import { findLanguage } from '../../../src/languages/languages.ts';
import { extractCode } from '../../../runtime/agent/extract-code.ts';
import { cpuMs } from '../../fixtures/cpu-ms.ts';

const F = '```';
const lines = (...parts: string[]): string => parts.join('\n');

const defined = (name: Language): LanguageDefinition => findLanguage(name)!;

function codeOf(answer: string, language: Language = 'javascript'): string | undefined {
  const extracted = extractCode(answer, defined(language));
  return 'code' in extracted ? extracted.code : undefined;
}

function faultOf(answer: string, language: Language = 'javascript'): string | undefined {
  const extracted = extractCode(answer, defined(language));
  return 'fault' in extracted ? extracted.fault : undefined;
}

describe('one block', () => {
  test.each<[string, string, Language]>([
    ['backticks', lines('Here:', `${F}javascript`, 'run();', F, 'Done.'), 'javascript'],
    ['tildes', lines('~~~js', 'run();', '~~~'), 'javascript'],
    ['a tag in capitals with an attribute', lines(`${F}JavaScript title="x.js"`, 'run();', F), 'javascript'],
    ['a tag in braces', lines(`${F} {.js}`, 'run();', F), 'javascript'],
    ['no tag', lines(F, 'run();', F), 'javascript'],
    ['Windows line ends', `${F}js\r\nrun();\r\n${F}\r\n`, 'javascript'],
    ['a list item', lines('1. Do this:', '', `   ${F}js`, '   run();', `   ${F}`), 'javascript'],
    ['a list item on the same line', lines(`- ${F}js`, '  run();', `  ${F}`), 'javascript'],
    ['JavaScript for TypeScript', lines(`${F}js`, 'run();', F), 'typescript'],
    ['py for Python', lines(`${F}py`, 'run();', F), 'python'],
    ['sh for bash', lines(`${F}sh`, 'run();', F), 'bash'],
    ['a closing fence that is longer', lines(`${F}js`, 'run();', `${F}\`\``), 'javascript'],
    ['no closing fence', lines(`${F}js`, 'run();'), 'javascript'],
  ])('with %s', (_name, answer, language) => {
    expect(codeOf(answer, language)).toBe('run();\n');
  });

  test('keeps indentation and empty lines', () => {
    expect(codeOf(lines(`${F}python`, 'def a():', '', '    return 1', F), 'python')).toBe('def a():\n\n    return 1\n');
  });

  test('a longer fence may hold shorter ones', () => {
    const program = lines('const text = `', `${F}json`, '{}', F, '`;');
    expect(codeOf(lines(`${F}\`js`, program, `${F}\``))).toBe(`${program}\n`);
    expect(codeOf(lines('~~~js', program, '~~~'))).toBe(`${program}\n`);
  });

  test('an indented fence inside the code does not close the block', () => {
    const program = lines('print("""', `      ${F}`, '""")');
    expect(codeOf(lines(`${F}python`, program, F), 'python')).toBe(`${program}\n`);
  });

  test('inline code on a line of its own opens no block', () => {
    expect(codeOf(lines(`${F}js run()${F}`, `${F}js`, 'run();', F))).toBe('run();\n');
  });

  test('reports whether its closing fence exists', () => {
    expect(extractCode(lines(`${F}js`, 'run();', F), defined('javascript'))).toHaveProperty('closed', true);
    expect(extractCode(lines(`${F}js`, 'run();'), defined('javascript'))).toHaveProperty('closed', false);
  });
});

describe('a block as CommonMark reads it', () => {
  test.each<[string, string]>([
    ['up to three blanks before its fences', lines(`   ${F}js`, '   run();', ` ${F}`)],
    ['a closing fence of more backticks, with blanks behind it', lines(`${F}js`, 'run();', `${F}\`\`  \t`)],
    ['an item of two digits', lines('10. Do this:', '', `    ${F}js`, '    run();', `    ${F}`)],
    ['an item in an item', lines('- a', '  - b', '', `    ${F}js`, '    run();', `    ${F}`)],
    ['a quote', lines(`> ${F}js`, '> run();', `> ${F}`, 'after();')],
    ['a quote whose end closes it', lines(`> ${F}js`, '> run();', 'after();')],
    ['code that is indented less than its fence', lines('1. x', `   ${F}js`, 'run();', `   ${F}`)],
  ])('with %s', (_name, answer) => {
    expect(codeOf(answer)).toBe('run();\n');
  });

  test.each<[string, string]>([
    ['four blanks before its fence', lines('Text', '', `    ${F}js`, '    run();', `    ${F}`)],
    ['a tab before its fence', lines(`\t${F}js`, '\trun();', `\t${F}`)],
  ])('is no block with %s', (_name, answer) => {
    expect(faultOf(answer)).toMatch(/holds no fenced code block/);
  });

  test.each<[string, string, string]>([
    ['a fence with words behind it', lines(`${F}js`, 'run();', `${F} end`, F), `run();\n${F} end\n`],
    ['fewer tildes', lines('~~~~js', 'run();', '~~~', '~~~~'), 'run();\n~~~\n'],
    ['the other character', lines(`${F}js`, 'run();', '~~~', F), 'run();\n~~~\n'],
    ['four blanks', lines(`${F}js`, 'run();', `    ${F}`, F), `run();\n    ${F}\n`],
  ])('is not closed by %s', (_name, answer, code) => {
    expect(codeOf(answer)).toBe(code);
  });
});

describe('a fence within a program', () => {
  const document = lines("cat > a.md <<'EOF'", '# A', F, 'npm i', F, `${F}sh`, "it's", F, 'EOF', 'echo done');
  const python = lines('TEXT = """', F, "it's", F, '"""', "print('#', TEXT)");
  const script = lines(
    'const text = `# ${"a`b"}`, other = `',
    '~~~',
    '\\`',
    '`;',
    '/*',
    F,
    'code',
    F,
    '*/',
    'run(/[`/]/);',
  );

  test.each<[Language, string]>([
    ['bash', document],
    ['bash', lines('x="$(echo \'', F, 'b)\')" ${x:-"y"} # it\'s', 'echo $((1 << 2)) <<< x')],
    ['bash', lines('cat <<-A - <<B', F, '\tA', F, 'B', 'exit 0')],
    ['python', python],
    ['python', lines("x = 'a\\", `${F}\\`, F, "'", 'y = f"{x!r}" # """')],
    ['javascript', script],
    ['typescript', lines('/**', F, 'code', F, ' */', 'run();')],
  ])('of %s inside a text does not end the block: %#', (language, program) => {
    for (const after of [[], ['Run it so:', '', `${F}text`, 'it', F], ["It's done."]]) {
      const answer = lines('Here:', `${F}${language}`, program, F, ...after);
      expect(codeOf(answer, language)).toBe(`${program}\n`);
    }
  });

  test.each<[Language, string, RegExp]>([
    ['bash', lines(`${F}bash`, 'cat <<EOF', F, 'EOF', 'echo done'), /inside of a here-document.*fence is longer/],
    ['bash', lines(`${F}bash`, 'cat <<EOF', F, 'Then:', `${F}bash`, 'ls', F), /inside of a here-document/],
    ['bash', lines(`${F}bash`, "echo 'it's'", F, "That's it:", `${F}text`, 'it', F), /inside of a string/],
    ['bash', lines(`${F}bash`, 'cat <<EOF', 'text'), /inside of a here-document/],
    ['python', lines(`${F}python`, 'a = """', F, 'more()'), /inside of a string/],
    ['javascript', lines(`${F}js`, '/*', F, 'more();'), /inside of a comment/],
    ['javascript', lines(`${F}md file=a.md`, `${F}sh`, 'ls', F, 'more', F, `${F}js`, 'run();', F), /within "a\.md"/],
  ])('that truncates the program is reported, and no part counts as a program: %s %#', (language, answer, fault) => {
    expect(faultOf(answer, language)).toMatch(fault);
  });

  test.each<[Language, string]>([
    [
      'bash',
      "for x in a; do # don't\n  case $x in a) echo \"it's $(echo \")\")\" ;; esac\ndone; echo ${#x} $'it\\'s'; ((y = 1 << z))",
    ],
    ['python', "a = r'\\''; b = \"it's\"; c = f'{a[\"x\"]}' # it's \"\"\"\nd = ''"],
    ['javascript', "const a = /['\"`]/.test(b) ? c / d : `${{ a: `x` }} it's`; // `\nreturn /`/;"],
  ])('is no concern of a program without one: %s %#', (language, program) => {
    const answer = lines(`${F}${language}`, program, F, "That's it. Then `run`:", `${F}text`, 'x', F);
    expect(codeOf(answer, language)).toBe(`${program}\n`);
  });

  test('is no concern of a block with a longer fence', () => {
    expect(codeOf(lines(`${F}\`bash`, "echo it's", `${F}\``, 'That is it.'), 'bash')).toBe("echo it's\n");
  });
});

describe('several blocks: exactly one is taken', () => {
  const program = lines('import { writeFile } from "node:fs/promises";', 'await writeFile("a", "b");');
  const js = (code: string): string => lines(`${F}js`, code, F);

  test('the block of the language, at any place and of any length', () => {
    const other = lines(`${F}bash`, `npm install ${'x '.repeat(500)}`, F);
    expect(codeOf(lines(other, js('run();')))).toBe('run();\n');
    expect(codeOf(lines(js('run();'), other))).toBe('run();\n');
  });

  test('a tagged block before a block without a tag', () => {
    expect(codeOf(lines(F, 'expected output '.repeat(50), F, js('run();')))).toBe('run();\n');
  });

  test('the longest of the language, before or after the short ones', () => {
    expect(codeOf(lines(js('use();'), 'and', js(program), 'and', js('see();')))).toBe(`${program}\n`);
  });

  test('blanks do not make a block longer', () => {
    expect(codeOf(lines(js(program), js(`use();${' '.repeat(500)}`)))).toBe(`${program}\n`);
  });

  test('the last of equally long blocks, since a correction comes last', () => {
    expect(codeOf(lines(js('run(1);'), 'Rather:', js('run(2);')))).toBe('run(2);\n');
  });

  test('TypeScript before JavaScript for TypeScript', () => {
    expect(codeOf(lines(`${F}ts`, 'run();', F, js(program)), 'typescript')).toBe('run();\n');
  });

  test('an empty block does not count', () => {
    expect(codeOf(lines(js('\n  '), F, 'run();', F))).toBe('run();\n');
  });

  test('a draft in the thinking of a model does not count', () => {
    expect(codeOf(lines('<think>', js(program), '</think>', js('run();')))).toBe('run();\n');
  });
});

describe('no usable block', () => {
  test.each(['', 'I cannot do that.', 'import fs from "node:fs";\nfs.writeFileSync("a", "b");', `${F}js\n\n${F}`])(
    'the answer %j leads to a new request with instructions',
    (answer) => {
      expect(faultOf(answer)).toMatch(/holds no fenced code block.*marked javascript/);
    },
  );

  test('another language is named', () => {
    expect(faultOf(lines(`${F}python`, 'run()', F))).toMatch(/marked javascript, only "python"/);
    expect(faultOf(lines(`${F}ts`, 'run()', F))).toMatch(/only "ts"/);
    expect(faultOf(lines(`${F}constructor`, 'run()', F))).toMatch(/only "constructor"/);
  });
});

test('extractCode() accepts any text, and returns any correctly fenced program unchanged', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string(), (text, prose) => {
      expect(() => extractCode(text, defined('python'))).not.toThrow();
      const program = text.replace(/\r\n?/g, '\n').replaceAll('~', '-');
      fc.pre(program.trim() !== '' && !/[`~<]/.test(prose));
      expect(codeOf(lines(prose, '~~~js', program, '~~~'))).toBe(`${program}\n`);
    }),
  );
});

test('a hostile answer of 512 KiB is read in linear time', () => {
  const takenMs = cpuMs(() => {
    const pieces = [
      '- ',
      '`',
      '> ',
      '1. ',
      ' ',
      '<think>',
      '~~~\n',
      '```js\n',
      '> - ',
      '> ```js\n',
      '```js\n`\n```\n',
      '- \n\n',
      '/',
      '\n',
    ];
    for (const piece of pieces) {
      extractCode(piece.repeat(Math.floor((512 * 1024) / piece.length)), defined('javascript'));
    }
  });
  expect(takenMs).toBeLessThan(10_000);
});

test('extractCode() refuses two files of an answer at one place', () => {
  const file = (path: string): string => lines(`${F}txt file=${path}`, 'text', F);
  const program = lines(`${F}js`, 'run();', F);
  expect(faultOf(lines(program, file('a.txt'), file('a.txt')))).toMatch(/it is there already, got "a\.txt"/);
  expect(faultOf(lines(program, file('a'), file('a/b.txt')))).toMatch(/it is there already, got "a\/b\.txt"/);
});
