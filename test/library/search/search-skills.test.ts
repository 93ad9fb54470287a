import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SearchSkillsOptions, type SkillSearch, searchSkills } from '../../../src/library/search/search-skills.ts';
import type { AgentsConfig } from '../../../src/contracts/skills/skill.ts';
import { skillLibrary, skillText, type SkillLibrary } from '../../fixtures/skill-library.ts';
import type { Tree } from '../../conformance/write-tree.ts';

const SKILLS: Tree = {
  'invoices/SKILL.md': skillText(
    { name: 'invoices', description: 'Sums open invoices.', when_to_use: ['A customer asks what is due'] },
    '# Invoices\n\nRead the ledger.\n\n## Dunning letters\n\nWrite one letter a customer.\n\n```sh\n# No heading at all: zeppelin\n```\n',
  ),
  'charts/SKILL.md': skillText(
    { name: 'charts', description: 'Draws charts.', displayName: 'Diagrams' },
    'A line, a bar.\nThe ledger is no chart.\n',
  ),
  'safe/SKILL.md': skillText(
    { name: 'safe', description: 'Opens the safe by its ledger.' },
    'The code is xylophone.\n',
  ),
  'people/SKILL.md': skillText(
    { name: 'people', description: 'For people: xylophone lessons.', 'disable-model-invocation': true },
    'Play.\n',
  ),
  'mail/SKILL.md': skillText({ name: 'mail', description: 'Sends a postcard.' }, 'Send it.\n'),
  'mail/tools.yaml': 'tools:\n  - id: mail.send\n    required: true\n',
};
const POLICY: AgentsConfig = {
  desk: { disabled: ['custom.safe'] },
  vault: {},
  charter: { enabled: ['custom.charts'] },
};

let library: SkillLibrary;
let cacheFolder: string;
beforeAll(() => {
  cacheFolder = mkdtempSync(join(tmpdir(), 'search-'));
  library = skillLibrary(SKILLS, { agentsConfig: POLICY });
});
afterAll(() => {
  library[Symbol.dispose]();
  rmSync(cacheFolder, { recursive: true });
});

const search = (text: string, options: SearchSkillsOptions = {}): Promise<SkillSearch> =>
  searchSkills(library.subsystem, text, { cacheFolder, ...options });
const idsOf = ({ hits }: SkillSearch): string[] => hits.map(({ id }) => id);

describe('searchSkills()', () => {
  it('finds words in ids, names, descriptions, when_to_use, headings and bodies, and names the fields', async () => {
    const fieldsOf = async (text: string): Promise<unknown> => {
      const [hit] = (await search(text)).hits;
      return hit === undefined
        ? undefined
        : [hit.id, ...hit.matches.map(({ field, words }) => `${field}: ${words.join(' ')}`)];
    };
    expect(await fieldsOf('INVOICE')).toEqual([
      ...['custom.invoices', 'id: invoices', 'description: invoices', 'headings: Invoices', 'body: Invoices'],
    ]);
    expect(await fieldsOf('diagram')).toEqual(['custom.charts', 'id: Diagrams']);
    expect(await fieldsOf('due')).toEqual(['custom.invoices', 'whenToUse: due']);
    expect(await fieldsOf('dunning')).toEqual(['custom.invoices', 'headings: Dunning', 'body: Dunning']);
    expect(await fieldsOf('zeppelins')).toEqual(['custom.invoices', 'body: zeppelin']);
  });

  it('ranks a word of an id or a description before one of a body', async () => {
    expect(idsOf(await search('ledger'))).toEqual(['custom.safe', 'custom.charts', 'custom.invoices']);
  });

  it('shows the place with the most query words, with its line of SKILL.md', async () => {
    const [hit] = (await search('letter to the customer')).hits;
    expect(hit?.snippet).toEqual({
      field: 'body',
      text: '…Read the ledger. ## Dunning letters Write one letter a customer. ```sh # No heading at all: zeppelin ```',
      line: 10,
    });
  });

  it('shows the first of equal places, and the id only if there is no other place', async () => {
    const fieldOf = async (text: string): Promise<unknown> => (await search(text)).hits[0]?.snippet?.field;
    expect(await fieldOf('invoice')).toBe('description');
    expect(await fieldOf('dunning')).toBe('headings');
    expect(await fieldOf('diagram')).toBe('id');
  });

  it('shows a snippet on one line, without control and hidden characters', async () => {
    using hostile = skillLibrary({
      'odd/SKILL.md': skillText(
        { name: 'odd', description: 'Odd.' },
        'a\u001b[31m trombone\u202e\u200b\r\n\u0007x\u2028y\n',
      ),
    });
    const { hits } = await searchSkills(hostile.subsystem, 'trombone', { cacheFolder });
    expect(hits[0]?.snippet?.text).toBe('a [31m trombone x y');
  });

  it('finds nothing for a text without words, or with words of no skill', async () => {
    for (const text of ['', '  \n', '📦', '"', '*', '-', '(', '""""', '\u0000', '^:{}'])
      expect(await search(text)).toMatchObject({ hits: [], found: 0, words: [], ignored: 0, searched: 4 });
    expect(await search('quagga')).toMatchObject({ hits: [], words: [], ignored: 1 });
  });

  it.each([
    'chart OR quagga',
    'NEAR(chart quagga, 2)',
    '"chart" AND NOT chart',
    'body:chart',
    'chart*',
    '-chart',
    '^chart',
    'chart"',
  ])('treats %s as plain words', async (text) => {
    expect(idsOf(await search(text))).toEqual(['custom.charts']);
  });

  it('finds a skill by its id with dots, and by words of scripts without blanks or from right to left', async () => {
    expect(idsOf(await search('custom.charts'))[0]).toBe('custom.charts');
    expect(idsOf(await search('*'))).toEqual([]);
    using scripts = skillLibrary({
      'tables/SKILL.md': skillText({ description: '把表格转换成图表。' }, 'データを表にする。\n'),
      'peace/SKILL.md': skillText({ description: 'كتابة الرسائل بالعربية' }, 'שלום עולם\n'),
    });
    const ids = async (text: string): Promise<string[]> =>
      idsOf(await searchSkills(scripts.subsystem, text, { cacheFolder }));
    for (const text of ['表格', '请把表格给我', 'データ', '📦表格📦'])
      expect(await ids(text), text).toEqual(['custom.tables']);
    for (const text of ['الرسائل', 'שלום', '\u202eשלום\u202c']) expect(await ids(text), text).toEqual(['custom.peace']);
  });

  it('answers a text of 1,000,000 units, and refuses a longer one', async () => {
    const found = await search('"NEAR(a b)" chart '.repeat(60_000).slice(0, 1_000_000));
    expect(idsOf(found)).toEqual(['custom.charts']);
    await expect(search('x'.repeat(1_000_001))).rejects.toMatchObject({ code: 'options.invalid' });
  });

  it('answers any text at all', async () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(fc.constantFrom(...'chart " OR ( * - NEAR : ^ { + \0 📦'.split(' '))).map((parts) => parts.join(' ')),
    );
    await fc.assert(
      fc.asyncProperty(text, async (each) => {
        const { hits } = await search(each);
        expect(hits.every(({ score }) => score > 0)).toBe(true);
      }),
    );
  });

  it('answers 100 KB of words by the rarest of them, and counts the ignored ones', async () => {
    const noise = Array.from({ length: 14_000 }, (_, index) => `w${index}`).join(' ');
    const found = await search(`${noise} dunning`);
    expect(idsOf(found)).toEqual(['custom.invoices']);
    expect(found).toMatchObject({ words: [{ word: 'dun', skills: 1 }], ignored: 14_000 });
  });

  it('weighs a word by the number of skills that hold it, as BM25 of Lucene does', async () => {
    const one = (name: string, word: string): string => skillText({ name, description: `Common ${word}.` }, 'Text.\n');
    using two = skillLibrary({ 'a/SKILL.md': one('a', 'zebra'), 'b/SKILL.md': one('b', 'quill') });
    const scoreOf = async (text: string): Promise<number> =>
      (await searchSkills(two.subsystem, text, { cacheFolder })).hits[0]?.score ?? 0;
    // One of two skills has the weight ln(1 + 1.5 / 1.5), and two of two have ln(1 + 0.5 / 2.5).
    expect((await scoreOf('zebra')) / (await scoreOf('common'))).toBeCloseTo(Math.log(2) / Math.log(1.2), 1);
  });

  it('applies the policy: hidden skills do not even affect scores', async () => {
    const asked = await search('ledger', { consumer: 'desk' });
    expect(idsOf(asked)).toEqual(['custom.charts', 'custom.invoices']);
    expect(await search('xylophone', { consumer: 'desk' })).toMatchObject({
      hits: [],
      words: [],
      found: 0,
      searched: 3,
    });
    expect(idsOf(await search('xylophone', { consumer: 'vault' }))).toEqual(['custom.safe']);
    expect(idsOf(await search('ledger', { consumer: 'charter' }))).toEqual(['custom.charts']);

    const { 'safe/SKILL.md': _hidden, ...visible } = SKILLS;
    using without = skillLibrary(visible, { agentsConfig: { desk: {} } });
    expect(await searchSkills(without.subsystem, 'ledger', { cacheFolder, consumer: 'desk' })).toEqual(asked);
  });

  it('leaves out internal skills, skills that no model may invoke, and skills without their tools', async () => {
    using builtin = skillLibrary({
      'internal/secret/SKILL.md': skillText({ name: 'secret', description: 'Hush ledger.' }, 'x\n'),
    });
    using all = skillLibrary(SKILLS, { builtinRoot: builtin.root });
    const ids = async (text: string, options: SearchSkillsOptions = {}): Promise<string[]> =>
      idsOf(await searchSkills(all.subsystem, text, { cacheFolder, ...options }));
    expect(await ids('hush')).toEqual([]);
    expect(await ids('hush', { includeInternal: true })).toEqual(['internal.secret']);
    expect(await ids('lessons')).toEqual([]);
    expect(await ids('postcard')).toEqual(['custom.mail']);
    expect(await ids('postcard', { tools: [] })).toEqual([]);
    expect(await ids('postcard', { tools: ['mail.send'] })).toEqual(['custom.mail']);
  });

  it('orders equal skills by id for any order of words, and returns at most max', async () => {
    const files = Object.fromEntries(
      ['b', 'a', 'c', 'd'].map((name) => [`${name}/SKILL.md`, skillText({ description: 'Equal gnu yak.' }, 'Same.\n')]),
    );
    using equal = skillLibrary(files);
    const ids = ['custom.a', 'custom.b', 'custom.c', 'custom.d'];
    const gnu = await searchSkills(equal.subsystem, 'gnu yak', { cacheFolder });
    expect(idsOf(gnu)).toEqual(ids);
    expect(await searchSkills(equal.subsystem, 'yak gnu', { cacheFolder })).toEqual(gnu);
    const two = await searchSkills(equal.subsystem, 'yak', { cacheFolder, max: 2 });
    expect(two).toMatchObject({ found: 4, searched: 4 });
    expect(idsOf(two)).toEqual(ids.slice(0, 2));
  });

  it.each([
    [{ max: 0 }, /max must be a whole number from 1 to 1000/],
    [{ consumers: 'desk' }, /there is no option consumers|no field consumers|consumers/],
  ])('refuses the options %j', async (options, message) => {
    await expect(search('x', options as SearchSkillsOptions)).rejects.toMatchObject({
      code: 'options.invalid',
      message: expect.stringMatching(message) as string,
    });
  });

  it('stops a build when its signal is aborted', async () => {
    const signal = AbortSignal.abort(new Error('enough'));
    const body = 'Some words of a long text. '.repeat(20_000);
    using long = skillLibrary({
      'one/SKILL.md': skillText({ description: 'One.' }, body),
      'two/SKILL.md': skillText({ description: 'Two.' }, body),
    });
    await expect(searchSkills(long.subsystem, 'long', { cacheFolder, signal })).rejects.toThrow('enough');
  });
});
