import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { describeWith, MISSING_PYTHON } from '../../fixtures/describe-with.ts';

const SOURCE = fileURLToPath(new URL('../../../runtime/languages/python/script_requirements.py', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'requirements-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const PACKAGES: Record<string, { version: string; lines?: string[]; url?: string }> = {
  Some_Package: { version: '1.4.2' },
  early: { version: '2.0rc1' },
  built: { version: '3.0+debian.1' },
  odd: { version: 'unknown version' },
  'with-extras': {
    version: '1.0',
    lines: [
      'Provides-Extra: full',
      'Provides-Extra: met',
      'Requires-Dist: absent (>=1) ; extra == "full"',
      'Requires-Dist: early ; extra == "met"',
      'Requires-Dist: also-absent',
    ],
  },
  direct: { version: '1.0', url: 'https://example.org/direct.whl' },
};
for (const [name, { version, lines = [], url }] of Object.entries(PACKAGES)) {
  const info = join(folder, `${name}-${version.replaceAll(' ', '_')}.dist-info`);
  mkdirSync(info);
  writeFileSync(
    join(info, 'METADATA'),
    ['Metadata-Version: 2.1', `Name: ${name}`, `Version: ${version}`, ...lines, ''].join('\n'),
  );
  if (url !== undefined) writeFileSync(join(info, 'direct_url.json'), JSON.stringify({ url }));
}

const PROGRAM = `
import json, sys
names = {"__name__": "script_requirements"}
with open(sys.argv[1], "rb") as file:
    exec(compile(file.read(), sys.argv[1], "exec"), names)
sys.path.insert(0, sys.argv[2])
request = json.load(sys.stdin)
if request.get("plain"): names["tomllib"] = None
results = []
for text in request["scripts"]:
    with open(sys.argv[2] + "/script.py", "w", encoding="utf-8", newline="") as file: file.write(text)
    results.append(names["unmet"](sys.argv[2] + "/script.py"))
json.dump(results, sys.stdout)
`;

/** The unmet requirements of each script, by this Python's TOML reader or by the fallback reader. */
function unmet(scripts: string[], plain = false): string[][] {
  const input = JSON.stringify({ scripts, plain });
  const said = execFileSync('/usr/bin/python3', ['-I', '-c', PROGRAM, SOURCE, folder], { input, encoding: 'utf8' });
  return JSON.parse(said) as string[][];
}

const block = (...lines: string[]): string =>
  ['# /// script', ...lines.map((line) => `# ${line}`), '# ///', ''].join('\n');
const requiring = (...requirements: string[]): string => block(`dependencies = ${JSON.stringify(requirements)}`);
/** The met ones of some requirements. */
const met = (requirements: string[]): string[] => {
  const rows = unmet(requirements.map((requirement) => requiring(requirement)));
  return requirements.filter((_, index) => rows[index]?.length === 0);
};

describeWith('script_requirements.py', MISSING_PYTHON, () => {
  it('compares versions as PEP 440 says', () => {
    const held = [
      'some-package',
      'SOME.package',
      'Some_Package==1.4.2',
      'some-package == 1.4.2.0',
      'some-package>=1.4,<2',
      'some-package (>=1)',
      'some-package==1.4.*',
      'some-package~=1.4',
      'some-package~=1.4.0',
      'some-package!=1.4.3',
      'some-package===1.4.2',
      'some-package>1.4.2rc1',
      'early>=1',
      'early<2.0',
      'early==2.*',
      'early>2.0b9',
      'early<=2',
      'built==3.0',
      'built>=3',
      'built<=3',
      'built==3.0+Debian-1',
      'odd',
      'odd===unknown version'.replace(' version', ''),
    ];
    const broken = [
      'some-package>1.4.2',
      'some-package<1.4.2',
      'some-package~=1.3.0',
      'some-package==1.4',
      'some-package!=1.4.*',
      'some-package>=1!1',
      'some-package==1.4.2+local',
      'early>=2',
      'early<2.0',
      'built>3.0',
      'built==3.0+other',
      'odd>=0',
      'some-package>=1,>=2',
      'not-installed',
      'not-installed>=1',
    ];
    // `early` is before 2.0, but for PEP 440 it is in none of the ranges below.
    const expected = held.filter((text) => text !== 'early<2.0' && !text.startsWith('odd==='));
    expect(met([...new Set([...held, ...broken])])).toEqual(expected);
  });

  it('reports the fault of each requirement', () => {
    const requirements = [
      'none',
      'some-package>=2 ; python_version > "3"',
      'some_package[x]',
      'with-extras[full, met]',
      'with-extras[met]',
      'direct @ https://example.org/other.whl',
      'direct @ https://example.org/direct.whl',
    ];
    expect(unmet([requiring(...requirements)])).toEqual([
      [
        'none (not installed)',
        'some-package>=2 ; python_version > "3" (1.4.2 is installed)',
        'some_package[x] (its extra x lacks a meaning: there is no such extra)',
        'with-extras[full, met] (its extra full lacks absent (>=1) (not installed))',
        'direct @ https://example.org/other.whl (1.0 is installed, from elsewhere)',
      ],
    ]);
  });

  it('evaluates conditions', () => {
    const holds = [
      "sys_platform == 'linux'",
      "python_version >= '3.8' and os_name == 'posix'",
      "(python_version < '3' or 'lin' in sys_platform)",
      "python_version not in '2.7 3.0'",
      "'3.8' <= python_version",
      "implementation_name != 'pypy'",
      "python_full_version ~= '3.0'",
    ];
    const not = [
      "sys_platform == 'win32'",
      "python_version < '3'",
      "os_name == 'posix' and (sys_platform == 'win32')",
      "'z' in os_name",
      "extra == 'test'",
    ];
    const rows = unmet([...holds, ...not].map((condition) => requiring(`none ; ${condition}`)));
    expect(rows.map((row) => row.length)).toEqual([...holds.map(() => 1), ...not.map(() => 0)]);
  });

  const SCRIPTS: [string, string, number][] = [
    ['no block', 'print(1)\n', 0],
    ['an empty file', '', 0],
    ['another block', '# /// other\n# dependencies = ["none"]\n# ///\n', 0],
    ['an unclosed block', '# /// script\n# dependencies = ["none"]\n', 0],
    ['a block without lines', '# /// script\n# ///\n', 0],
    ['a truncated block', '# /// script\n# dependencies = ["none"]\n\n# ///\n', 0],
    ['lines without the blank', '# /// script\n#dependencies = ["none"]\n# ///\n', 0],
    ['a block in the middle', `"""Doc."""\nimport os\n${requiring('none')}print(1)\n`, 1],
    ['line ends of Windows', requiring('none').replaceAll('\n', '\r\n'), 1],
    ['a byte order mark', `\uFEFF${requiring('none')}`, 1],
    ['an empty line', '# /// script\n#\n# dependencies = ["none"]\n#\n# ///\n', 1],
    ['an end in a comment', '# /// script\n# dependencies = [\n#  "none", # ]\n# /// \n# ]\n# ///\n', 1],
    [
      'several lines',
      block('dependencies = [', '  "none",', "  'other'  , # why", ']', '[tool.uv]', 'x = { y = 1 }'),
      2,
    ],
    ['escapes', block('dependencies = ["\\u006eone"]'), 1],
    ['two blocks', `${requiring('some-package')}\n${requiring('some-package')}`, 1],
    ['no TOML', block('dependencies = ['), 1],
    ['a text', block('dependencies = "none"'), 1],
    ['a list of numbers', block('dependencies = [1]'), 1],
    ['a number', block('requires-python = 3'), 1],
    ['a key twice', block('requires-python = ">=3"', 'requires-python = ">=3"'), 1],
    ['no version', requiring('some-package>=x'), 1],
    ['an unknown operator', requiring('some-package=>1'), 1],
    ['a short version', requiring('some-package~=1'), 1],
    ['no condition', requiring('some-package; python'), 1],
    ['a call', requiring('some-package; __import__("os")'), 1],
    ['a deep condition', requiring(`some-package; ${'('.repeat(400)}os_name${')'.repeat(400)}`), 1],
    ['no name', requiring('>=1'), 1],
    ['an empty name', requiring(''), 1],
    ['a long version', requiring(`some-package>=${'1'.repeat(5_000)}`), 1],
    ['long numbers', requiring(`some-package<${'9'.repeat(900)}`), 0],
    ['too many', requiring(...Array.from({ length: 1_001 }, () => 'some-package')), 1],
    ['this Python', block('requires-python = ">=3.8,<4"'), 0],
    ['another Python', block('requires-python = ">=4"'), 1],
    ['bytes that are no text', '# /// script\n# dependencies = ["\u0000\uFFFD"]\n# ///\n', 1],
  ];

  it.each([
    ['tomllib', false],
    ['the fallback reader', true],
  ] as const)('reads the block by %s', (_name, plain) => {
    const rows = unmet(
      SCRIPTS.map(([, text]) => text),
      plain,
    );
    expect(SCRIPTS.map(([what], index) => [what, rows[index]?.length])).toEqual(
      SCRIPTS.map(([what, , count]) => [what, count]),
    );
    for (const row of rows.flat()) expect(row.length).toBeLessThan(1_200);
  });

  describe('a script of odd text', () => {
    it.each<[string, string]>([
      ['many openings', '# /// script\n'.repeat(100_000)],
      ['one long comment', `# /// script\n${'# a\n'.repeat(200_000)}`],
      ['one long line', `# /// script\n# dependencies = ["${'a'.repeat(1_000_000)}"]\n# ///\n`],
      ['many brackets', block(`dependencies = ${'['.repeat(100_000)}`)],
    ])('is read in limited time: %s', (_what, text) => {
      for (const plain of [false, true]) expect(unmet([text], plain)[0]?.length).toBeLessThanOrEqual(1);
    });
  });
});
