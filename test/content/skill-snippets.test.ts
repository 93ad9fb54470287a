import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { describeWith, MISSING_PYTHON } from '../fixtures/describe-with.ts';

// Code that models copy from skills must work: the tests take the code blocks from the files and run them unchanged.

const skillsRoot: string = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), 'skills');
const scratch: string = mkdtempSync(join(tmpdir(), 'skill-snippets-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

function codeBlocks(skill: string, language: string): string {
  const text = readFileSync(join(skillsRoot, skill, 'SKILL.md'), 'utf8');
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))]
    .map((match) => match[1])
    .join('\n');
}

/** Runs expressions in a module that begins with a skill's JavaScript blocks. A throw yields its message. */
function evaluate(skill: string, expressions: Record<string, string>): Record<string, unknown> {
  const file = join(scratch, `${skill.replace('/', '-')}.mjs`);
  const entries = Object.entries(expressions).map(
    ([name, code]) =>
      `${JSON.stringify(name)}: (() => { try { return ${code}; } catch (error) { return 'throws: ' + error.message; } })()`,
  );
  writeFileSync(file, `${codeBlocks(skill, 'js')}\nconsole.log(JSON.stringify({ ${entries.join(',\n')} }));\n`);
  return JSON.parse(execFileSync(process.execPath, [file], { encoding: 'utf8' })) as Record<string, unknown>;
}

describe('JavaScript in skills', () => {
  it('data-report reads quoted fields, refuses broken records and keeps missing values missing', () => {
    expect(
      evaluate('public/data-report', {
        quoted: `parseCsv('\\uFEFFa, b\\r\\n"x,""y""\\nz",2\\r\\n\\r\\n,\\r\\n')`,
        short: `parseCsv('a,b\\n1\\n')`,
        open: `parseCsv('a\\n"1')`,
        numbers: `['', ' -1.5e3', '.5', '0'].map((cell) => toNumber(cell))`,
        unit: `toNumber('12 km')`,
      }),
    ).toEqual({
      quoted: [
        { a: 'x,"y"\nz', b: '2' },
        { a: '', b: '' },
      ],
      short: 'throws: Record 2 has 1 fields, not 2',
      open: 'throws: The file ends inside a quoted field',
      numbers: [null, -1500, 0.5, 0],
      unit: 'throws: Not a number: "12 km"',
    });
  });

  it('data-report widens the error of a slope when neighbours resemble each other', () => {
    const points = (noise: string) =>
      `Array.from({ length: 60 }, (_, i) => ({ x: i, y: 2 * i + (${noise}), step: i }))`;
    const { alike, apart } = evaluate('public/data-report', {
      alike: `trend(${points('i % 20 < 10 ? 1 : -1')})`,
      apart: `trend(${points('i % 2 === 0 ? 1 : -1')})`,
    }) as Record<string, { slope: number; error: number; effective: number }>;
    expect(alike?.slope).toBeCloseTo(2, 1);
    expect(apart?.effective).toBe(60);
    expect(alike?.effective).toBeLessThan(12);
    expect(alike?.error).toBeGreaterThan(2 * (apart?.error ?? 0));
  });

  it('chart makes round ticks, breaks lines at gaps, escapes texts and sets labels apart', () => {
    expect(
      evaluate('public/chart', {
        round: `ticks(313, 416, 6)`,
        negative: `ticks(-3.6, 2.2).labels`,
        flat: `ticks(5, 5).labels.length > 1`,
        endless: `ticks(NaN, 1)`,
        gap: `linePath([{ x: 0, y: 0 }, { x: 1, y: null }, { x: 2, y: 2 }, { x: 3, y: 3 }], (x) => x, (y) => y)`,
        escaped: `escapeXml('a<b>&"\\'\\u0001\\uD800')`,
        apart: `spread([95, 10, 12, 98], 14, 0, 100)`,
        framed: `/^<svg [^>]*role="img"[^>]*>\\n<title /.test(frame({ width: 9, height: 9, title: 't', subtitle: 's', description: 'd', body: '' }))`,
      }),
    ).toEqual({
      round: {
        values: [300, 320, 340, 360, 380, 400, 420],
        labels: ['300', '320', '340', '360', '380', '400', '420'],
        low: 300,
        high: 420,
      },
      negative: ['\u22124', '\u22122', '0', '2', '4'],
      flat: true,
      endless: 'throws: An axis needs finite ends',
      gap: 'M0 0h0M2 2h0L3 3',
      escaped: 'a&#60;b&#62;&#38;&#34;&#39;',
      apart: [86, 10, 24, 100],
      framed: true,
    });
  });

  it('url-gen compares and builds addresses', () => {
    expect(
      evaluate('public/url-gen', {
        cleaned: `comparableUrl('HTTPS://Example.ORG:443/A/?utm_source=x&q=a%20b+c&gclid=1#f')`,
        script: `comparableUrl('javascript:alert(1)')`,
        credentials: `comparableUrl('https://u:p@x.example/')`,
        built: `buildUrl('https://x.example/api/', ['a/b', '\u00fc'], { q: '1&2=3' })`,
        climbing: `buildUrl('https://x.example', ['..'])`,
      }),
    ).toEqual({
      cleaned: 'https://example.org/A?q=a%20b+c',
      script: 'throws: Not a web address: javascript:alert(1)',
      credentials: 'throws: The address holds credentials',
      built: 'https://x.example/api/a%2Fb/%C3%BC?q=1%262%3D3',
      climbing: 'throws: Not a path segment: ".."',
    });
  });

  it('sources-section finds tokens without entry and entries without token, outside code', () => {
    const report =
      'a [[S:2]], b [[S:3-5]] `[[S:9]]`\n```\n[[S:8]]\n```\n## Sources\n\n- [[S:2]] x\n- [[S:3]] y\n- [[S:7]]\n';
    expect(evaluate('internal/sources-section', { found: `checkSources(${JSON.stringify(report)})` })).toEqual({
      found: { missing: [4, 5], unused: [7] },
    });
  });

  it('pdf-press escapes data for HTML', () => {
    expect(evaluate('public/pdf-press', { text: `escapeHtml('<a href="x">&\\'')` })).toEqual({
      text: '&#60;a href=&#34;x&#34;&#62;&#38;&#39;',
    });
  });
});

describeWith('Python in skills', MISSING_PYTHON, () => {
  it('csv-cleaning reads numbers, dates and encodings without guessing', () => {
    const file = join(scratch, 'cleaning.py');
    const check = String.raw`
import json

def attempt(call, *inputs):
    try:
        return call(*inputs)
    except ValueError:
        return 'refused'

print(json.dumps({
    'numbers': [attempt(parse_number, *inputs) for inputs in [('1,234.5',), (' 1.234,5 ', ','), ('(12)',), ('\u221212.50',), ("1'234'567",), ('0012',)]],
    'refused': [attempt(parse_number, text) for text in ['12 kg', '1,23.4', '1.234.5', '', '(-3)', '1,2345', "1,234'567"]],
    'orders': [day_first(values) for values in [['31/01/2020', '01/02/2020'], ['01/31/2020'], ['01/02/2020'], ['31/01/2020', '01/31/2020']]],
    'tables': [read_table('\ufeffa;"x\r\ny"\r\n'.encode(), ';'), read_table('a,\u00fc'.encode('cp1252')), read_table('a,\u00fc'.encode('utf-16'))],
}))
`;
    writeFileSync(file, codeBlocks('public/csv-cleaning', 'python') + check);
    expect(JSON.parse(execFileSync('/usr/bin/python3', [file], { encoding: 'utf8' }))).toEqual({
      numbers: ['1234.5', '1234.5', '-12', '-12.50', '1234567', '0012'],
      refused: Array.from({ length: 7 }, () => 'refused'),
      orders: [true, false, null, null],
      tables: [[['a', 'x\r\ny']], [['a', '\u00fc']], [['a', '\u00fc']]],
    });
  });

  it('profile_csv.py finds delimiter, missing values, wrong rows and signs of trouble', () => {
    const script = join(skillsRoot, 'public', 'csv-cleaning', 'scripts', 'profile_csv.py');
    const table = join(scratch, 'table.csv');
    writeFileSync(
      table,
      'Id;Rain;Day\n001;1,5;31/01/2020\n002;NA; 01/02/2020\n002;NA; 01/02/2020\n003;2.5;x\n\nnote\n',
    );
    const profile = JSON.parse(execFileSync('/usr/bin/python3', [script, table], { encoding: 'utf8' }));
    expect(profile).toMatchObject({
      encoding: 'utf-8',
      delimiter: ';',
      rows: 5,
      blank_lines: 1,
      duplicate_rows: 1,
      wrong_length: [{ line: 7, fields: 1 }],
      columns: [
        { name: 'Id', types: { integer: 4 }, signs: ['leading zeros: identifier?'] },
        { name: 'Rain', missing: { NA: 2 }, types: { decimal_comma: 1, decimal_point: 1 }, signs: ['mixed types'] },
        { name: 'Day', types: { date_slash: 3, text: 1 }, signs: ['mixed types', 'blanks at the ends'] },
      ],
    });
    const absent = spawnSync('/usr/bin/python3', [script, join(scratch, 'absent.csv')], { encoding: 'utf8' });
    expect(absent.status).toBe(2);
    expect(absent.stderr).toMatch(/^Cannot profile .*absent\.csv: /);
  });
});
