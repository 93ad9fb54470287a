import { afterAll, describe, expect, it } from 'vitest';
import { triggerTable } from '../../src/evals/report/eval-table.ts';
import { judgeTriggers, parseTriggerQueries } from '../../src/evals/report/judge-triggers.ts';
import { skillLibrary, skillText } from '../fixtures/skill-library.ts';

const library = skillLibrary({
  'chart/SKILL.md': skillText(
    { name: 'chart', description: 'Charts.', triggers: { keywords: ['bar chart', 'plot'] } },
    'Draw.',
  ),
  'shy/SKILL.md': skillText(
    { name: 'shy', description: 'Shy.', default_enabled: false, triggers: { keywords: ['plot'] } },
    'Stay.',
  ),
});
afterAll(() => library[Symbol.dispose]());

const queries = [
  { query: 'Draw a bar chart of it.', should_trigger: true },
  { query: 'Show it as a picture.', should_trigger: true },
  { query: 'What is the plot of Hamlet?', should_trigger: false },
  { query: 'What time is it?', should_trigger: false },
];

describe('judgeTriggers()', () => {
  it('counts hits and misses, and gives precision and recall', () => {
    const report = judgeTriggers(library.subsystem, 'custom.chart', queries);
    expect(report).toMatchObject({
      ...{ truePositives: 1, falseNegatives: 1, falsePositives: 1, trueNegatives: 1 },
      ...{ precision: 0.5, recall: 0.5 },
    });
    expect(report.queries[0]).toEqual({
      query: 'Draw a bar chart of it.',
      shouldTrigger: true,
      triggered: true,
      hits: ['keyword:bar chart'],
    });
  });

  it('gives no rate if nothing triggered, or nothing should', () => {
    const shouldNot = queries.map(({ query }) => ({ query, should_trigger: false }));
    expect(judgeTriggers(library.subsystem, 'custom.chart', shouldNot)).toMatchObject({ precision: 0, recall: null });
    expect(judgeTriggers(library.subsystem, 'custom.chart', queries.slice(3))).toMatchObject({ precision: null });
  });

  it('says why a skill that matched stayed out', () => {
    const { queries: judged } = judgeTriggers(library.subsystem, 'custom.shy', queries);
    expect(judged[2]).toMatchObject({ triggered: false, leftOut: 'default_enabled: false' });
  });

  it('is shown as a table, with the queries that it judged wrongly', () => {
    expect(triggerTable(judgeTriggers(library.subsystem, 'custom.chart', queries))).toEqual([
      '                brought in  left out',
      'should trigger           1         1',
      'should not               1         1',
      'precision 50 %, recall 50 %',
      'should have come in: Show it as a picture. (no trigger of it is in the query)',
      'should not have come in: What is the plot of Hamlet? (keyword:plot)',
    ]);
  });
});

describe('parseTriggerQueries()', () => {
  it('takes the list that skill-creator writes', () => {
    expect(parseTriggerQueries(Buffer.from(JSON.stringify(queries)), 'queries.json')).toEqual(queries);
  });

  it.each([
    ['{', 'the file must hold JSON'],
    ['[]', 'the file must be a list that is not empty'],
    [
      '[{"query":"a","query":"b","should_trigger":true}]',
      'the file must hold JSON (line 1, column 15: the key query is',
    ],
    ['{"queries":[]}', 'the file must be a list'],
    ['[{"query":"a"}]', '0.should_trigger is missing'],
    ['[{"query":"a","should_trigger":"yes"}]', '0.should_trigger must be true or false'],
    ['[{"query":" ","should_trigger":true}]', '0.query must be a text that is not empty'],
    ['[{"query":"a","should_trigger":true,"expected":1}]', 'there is no field'],
  ])('refuses %s', (text, message) => {
    expect(() => parseTriggerQueries(Buffer.from(text), 'queries.json')).toThrow(
      expect.objectContaining({
        code: 'eval.invalid',
        message: expect.stringContaining(`by queries.json: ${message}`),
        hint: 'Correct the named field of queries.json; docs/evals.md has the form.',
      }),
    );
  });
});
