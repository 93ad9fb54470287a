import { describe, expect, it } from 'vitest';
import { SCAN_RULES, type ScanCode } from '../../src/scan/scan-rules.ts';
import { scanTree } from '../../src/scan/scan-tree.ts';
import { CODE_CASES } from '../fixtures/scan/code-cases.ts';
import { FILE_CASES } from '../fixtures/scan/file-cases.ts';
import { type CaseFiles, type CaseForm, type RuleCases, treeOf } from '../fixtures/scan/scan-case.ts';
import { TEXT_CASES } from '../fixtures/scan/text-cases.ts';

const cases: Partial<Record<ScanCode, RuleCases>> = { ...TEXT_CASES, ...CODE_CASES, ...FILE_CASES };

/** Places of a code, in the form of the cases. */
function placesOf(code: ScanCode, files: CaseFiles): string[] {
  return scanTree(treeOf(files))
    .findings.filter((finding) => finding.code === code)
    .map(({ path, line, column }) => [path, line, column].filter((part) => part !== undefined).join(':'));
}

/** Disguises that an attacker may use. The keys of the frontmatter stay, because a file that is no skill hides nothing. */
const FORMS: Readonly<Record<CaseForm, (text: string) => string>> = {
  case: (text) => text.toUpperCase(),
  spacing: (text) => text.replaceAll(/(?<=\S) (?=\S)/g, ' \t '),
  'line-breaks': (text) => text.replaceAll(/(?<=\S) (?=[a-z])/gi, '\n  '),
  hidden: (text) => text.replaceAll(/(?<=[a-z])(?=[a-z])/gi, '\u200b'),
  'look-alikes': (text) => text.replaceAll('o', '\u043e').replaceAll('e', '\u0435').replaceAll('A', '\u0391'),
};

function inForm(files: CaseFiles, at: string, change: (text: string) => string): CaseFiles {
  const [path = ''] = at.split(':');
  const text = String(files[path]);
  const start = text.startsWith('---') ? text.indexOf('description:') + 'description:'.length : 0;
  const fence = text.startsWith('---') ? text.indexOf('\n---') : 0;
  const head = start === 0 ? '' : `${text.slice(0, start)}${change(text.slice(start, fence))}\n---\n`;
  return { ...files, [path]: `${head}${change(text.slice(start === 0 ? 0 : fence + 5))}` };
}

/** Number of findings of a code, at any place: another form of a case moves them. */
const foundIn = (code: ScanCode, files: CaseFiles): number => placesOf(code, files).length;

describe.each(Object.entries(cases) as [ScanCode, RuleCases][])('scan cases: %s', (code, { found, near }) => {
  it.each(found)('finds $name', ({ files, at }) => {
    expect(placesOf(code, files)).toContain(at);
  });

  it.each(near)('leaves alone $name', ({ files }) => {
    expect(placesOf(code, files)).toEqual([]);
  });

  const forms = found.flatMap((each) => (each.forms ?? []).map((form) => ({ ...each, form })));
  it.runIf(forms.length > 0).each(forms)('finds $name in another form: $form', ({ files, at, form }) => {
    const changed = inForm(files, at, FORMS[form]);
    expect(foundIn(code, changed), JSON.stringify(changed)).toBeGreaterThan(0);
  });
});

it('scan cases: has two true cases and two near misses of every rule except links, which no tree holds', () => {
  const codes = Object.keys(SCAN_RULES).filter((code) => code !== 'scan.link');
  expect(Object.keys(cases).toSorted()).toEqual(codes.toSorted());
  for (const { found, near } of Object.values(cases)) {
    expect(found.length).toBeGreaterThanOrEqual(2);
    expect(near.length).toBeGreaterThanOrEqual(2);
  }
});
