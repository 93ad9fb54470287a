import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { rewriteCitations } from '../../src/skills/render/citations.ts';
import { hasHidden } from '../../src/skills/text/hidden-characters.ts';
import { parseSkillMarkdown } from '../../src/skills/parse/parse-skill.ts';
import { readSourcesFile } from '../../src/skills/parse/sources-file.ts';
import { validateStrict } from '../../src/skills/parse/strict-validate.ts';
import { readToolsFile } from '../../src/skills/parse/tools-file.ts';

const project: string = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const skillsRoot: string = join(project, 'skills');
const quickstart: string = join(project, 'examples', 'quickstart');

const folders: string[] = ['internal', 'public'].flatMap((namespace) =>
  readdirSync(join(skillsRoot, namespace)).map((folder) => `${namespace}/${folder}`),
);

function readPart(folder: string, file: string): Buffer | undefined {
  const path = join(skillsRoot, folder, file);
  return existsSync(path) ? readFileSync(path) : undefined;
}

function load(folder: string) {
  const bytes = readFileSync(join(skillsRoot, folder, 'SKILL.md'));
  const parsed = parseSkillMarkdown(bytes, { folder: folder.split('/')[1] ?? '' });
  const sources = readSourcesFile(readPart(folder, 'sources.yaml') ?? Buffer.from('sources: []'));
  const tools = readToolsFile(readPart(folder, 'tools.yaml') ?? Buffer.from('tools: []'));
  return { bytes, parsed, sources, tools, compact: readPart(folder, 'compact.md')?.toString('utf8') };
}

/** Sids in a text, outside code. */
function cited(text: string): number[] {
  const prose = text.replace(/^```[^]*?^```$/gm, '').replace(/`[^`\n]*`/g, '');
  return [...new Set([...prose.matchAll(/\[\[S:(\d+)\]\]/g)].map((match) => Number(match[1])))].toSorted(
    (a, b) => a - b,
  );
}

describe.each(folders)('built-in skill %s', (folder) => {
  const { bytes, parsed, sources, tools, compact } = load(folder);

  it('loads without a diagnostic', () => {
    const found = [...parsed.diagnostics, ...sources.diagnostics, ...tools.diagnostics];
    expect(found).toEqual([]);
    expect(parsed.loaded).toBe(true);
    expect(parsed.extra).toEqual({});
    expect(hasHidden(bytes.toString('utf8') + (compact ?? ''))).toBe(false);
  });

  it('cites exactly its sources, and lists each with its address', () => {
    const rows = sources.rows;
    expect(cited(parsed.body)).toEqual(rows.map((row) => row.sid));
    const [, list = ''] = parsed.body.split('## Sources of this skill');
    for (const { sid } of rows) expect(list).toMatch(new RegExp(`<https://\\S+>[^<]*\\[\\[S:${sid}\\]\\]`));
    for (const text of [parsed.body, compact ?? '']) {
      expect(rewriteCitations({ pool: [], skills: [{ id: folder, sources: rows, text }] }).diagnostics).toEqual([]);
    }
  });

  it('imports only existing skills', () => {
    const imported = (parsed.fields.imports ?? []).map((id) => id.replace('.', '/'));
    expect(folders).toEqual(expect.arrayContaining(imported));
  });

  it('has a shorter compact form', () => {
    if (compact !== undefined) expect(compact.length).toBeLessThan(parsed.body.length / 2);
    expect(compact !== undefined || parsed.body.length < 8_000 || folder === 'public/csv-cleaning').toBe(true);
  });
});

it('csv-cleaning passes the Agent Skills specification, data-report with its extensions does not', () => {
  const strict = (folder: string) => validateStrict(folder.split('/')[1] ?? '', load(folder).bytes, 'SKILL.md');
  expect(strict('public/csv-cleaning')).toEqual([]);
  expect(strict('public/data-report').map(({ code }) => code)).toContain('strict.field-unknown');
});

describe('quick start', () => {
  const answer = readFileSync(join(quickstart, 'answer.md'), 'utf8');

  it('answers with exactly one code block', () => {
    expect([...answer.matchAll(/^```.*$/gm)].map(([fence]) => fence)).toEqual(['```javascript', '```']);
  });

  it('cites the numbers and addresses of the pool that its two skills make', () => {
    const order = ['internal/link-evidence', 'internal/sources-section', 'public/data-report', 'public/chart'];
    const skills = order.map((id) => ({ id, sources: load(id).sources.rows, text: '' }));
    const { pool } = rewriteCitations({ pool: [], skills });
    const entries = [...answer.matchAll(/^- \[\[S:(\d+)\]\].*<(https:\S+)>$/gm)];
    expect(entries.length).toBeGreaterThanOrEqual(4);
    for (const [, sid, url = ''] of entries) {
      expect(pool.find((row) => row.sid === Number(sid))?.url).toBe(url.replace(/\/$/, ''));
    }
  });

  it('holds one row per month, with empty cells for missing measurements', () => {
    const rows = readFileSync(join(quickstart, 'co2.csv'), 'utf8').trimEnd().split('\n').slice(1);
    const first = 1958 * 12 + 2;
    const months = rows.map(
      (_, i) => `${Math.floor((first + i) / 12)}-${String(((first + i) % 12) + 1).padStart(2, '0')}`,
    );
    expect(rows.map((row) => row.slice(0, 7))).toEqual(months);
    const missing = rows.filter((row) => !/^\d{4}-\d{2},\d{3}\.\d\d,\d{3}\.\d\d$/.test(row));
    expect(missing).toEqual(['1958-06,,', '1958-10,,', '1964-02,,', '1964-03,,', '1964-04,,']);
    expect(rows.at(-1)).toMatch(/^2020-04,/);
  });
});
