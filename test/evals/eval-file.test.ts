import { describe, expect, it } from 'vitest';
import { SkillcellError } from '../../src/contracts/errors/skillcell-error.ts';
import { parseEvalFile } from '../../src/evals/plan/eval-file.ts';

const parse = (value: unknown): ReturnType<typeof parseEvalFile> => parseEvalFile(Buffer.from(JSON.stringify(value)));
/** A file with one eval that has these fields beside the required ones. */
const one = (fields: object): object => ({ evals: [{ id: 1, prompt: 'Do it.', ...fields }] });

describe('parseEvalFile()', () => {
  it('takes a file as the guide to skills and skill-creator write it, its texts as prose', () => {
    const file = parse({
      skill_name: 'csv-analyzer',
      evals: [
        {
          id: 1,
          prompt: 'Find the top 3 months by revenue.',
          expected_output: 'A chart.',
          files: ['evals/files/sales.csv'],
          expectations: ['The output includes a chart'],
          assertions: ['Both axes are labeled'],
        },
        { id: 'plain', prompt: 'Clean it.' },
      ],
    });
    expect(file.evals[0]).toMatchObject({
      id: 1,
      expectations: [{ type: 'prose', text: 'The output includes a chart' }],
      assertions: [{ type: 'prose', text: 'Both axes are labeled' }],
    });
    expect(file.evals[1]).toEqual({ id: 'plain', prompt: 'Clean it.' });
  });

  it('takes JSON in any spacing and of any text', () => {
    const prompt = 'a: b # c\n--- *d &e !f %g "h" \\ \t \u0001 \u2028 {}[], ~ null';
    const spread = JSON.stringify(one({ prompt }), null, '\t').replaceAll('\n', '\r\n').replaceAll('": ', '"\r\n\t:\t');
    expect(parseEvalFile(Buffer.from(spread)).evals[0]?.prompt).toBe(prompt);
  });

  it('takes every kind of assertion', () => {
    const assertions = [
      { type: 'file-exists', path: 'a', not: true },
      { type: 'file-contains', path: 'a', text: 'x', ignore_case: true, not: false },
      { type: 'file-matches', path: 'a', pattern: 'x' },
      { type: 'file-equals', path: 'a', text: '' },
      { type: 'json-equals', path: 'a', at: '/b/0/c~1d', value: null, tolerance: 0.5 },
      { type: 'value-equals', value: false },
      { type: 'value-in-range', at: '', min: 0 },
      { type: 'value-fits-schema', schema: {} },
      { type: 'output-contains', text: 'x', stream: 'stderr' },
      { type: 'output-matches', pattern: 'x', name: 'a name' },
      { type: 'check', program: 'evals/check.py' },
    ];
    expect(parse(one({ assertions })).evals[0]?.assertions).toEqual(assertions);
  });

  it.each([
    ['no JSON', '{', 'the file must hold JSON'],
    ['a list', [], 'the file must be an object, got a list of 0'],
    ['no evals', { evals: [] }, 'evals must be a list that is not empty'],
    ['an unknown field', { ...one({}), author: 'x' }, 'there is no field author'],
    ['an unknown field of an eval', one({ timeout: 3 }), 'there is no field evals.0.timeout, got 3'],
    ['an eval without a prompt', { evals: [{ id: 1 }] }, 'evals.0.prompt is missing'],
    ['an empty prompt', one({ prompt: ' \n' }), 'evals.0.prompt must be a text that is not empty'],
    ['a prompt that is too long', one({ prompt: 'x'.repeat(1_000_001) }), 'evals.0.prompt must be a text with at most'],
    ['an id that is a path', one({ id: '../x' }), 'evals.0.id must be a whole number, or 1 to 64 letters'],
    ['a negative id', one({ id: -1 }), 'evals.0.id must be'],
    ['two evals of one id', { evals: [1, '1'].map((id) => ({ id, prompt: 'x' })) }, 'evals.1.id must be an id that no'],
    ['an unknown kind', one({ assertions: ['a', { type: 'llm' }] }), 'evals.0.assertions.1.type must name a kind'],
    ['no kind', one({ expectations: [{ text: 'a' }] }), 'evals.0.expectations.0.type is missing'],
    ['a number', one({ assertions: [7] }), 'evals.0.assertions.0 must name a kind of assertion'],
    ['an empty prose', one({ assertions: [''] }), 'evals.0.assertions.0.text must be a text that is not empty'],
    [
      'a field of another kind',
      one({ assertions: [{ type: 'file-exists', path: 'a', text: 'b' }] }),
      'there is no field evals.0.assertions.0.text',
    ],
    [
      'a path that leaves the folder',
      one({ assertions: [{ type: 'file-exists', path: '../a' }] }),
      'evals.0.assertions.0.path must be a relative path',
    ],
    ['a missing value', one({ assertions: [{ type: 'value-equals' }] }), 'evals.0.assertions.0.value is missing'],
    ['a range without bounds', one({ assertions: [{ type: 'value-in-range' }] }), 'must have min, max or both'],
    [
      'an empty range',
      one({ assertions: [{ type: 'value-in-range', min: 3, max: 1 }] }),
      'evals.0.assertions.0 must have no min above its max',
    ],
    [
      'an infinite bound',
      '{"evals":[{"id":1,"prompt":"x","assertions":[{"type":"value-in-range","min":0,"max":1e999}]}]}',
      'evals.0.assertions.0.max must be',
    ],
    [
      'a duplicate key',
      '{"evals":[{"id":1,"prompt":"x",\n  "assertions":["a"],\n  "assertions":["b"]}]}',
      'the file must hold JSON (line 3, column 3: the key assertions is there twice; keep one)',
    ],
    [
      'a duplicate key in two spellings',
      '{"evals":[{"id":1,"prompt":"x","\\u0070rompt":"y"}]}',
      'the key prompt is there twice',
    ],
    [
      'a place that is no pointer',
      one({ assertions: [{ type: 'value-equals', value: 1, at: '$.a' }] }),
      'evals.0.assertions.0.at must be a JSON pointer',
    ],
    [
      'a file outside of the skill',
      one({ files: ['/etc/passwd'] }),
      'evals.0.files.0 must be a relative path: absolute path',
    ],
  ])('refuses %s and names the field', (_what, given, message) => {
    let refused: unknown;
    try {
      parseEvalFile(Buffer.from(typeof given === 'string' ? given : JSON.stringify(given)));
    } catch (error) {
      refused = error;
    }
    expect(SkillcellError.isInstance(refused) && refused.code).toBe('eval.invalid');
    expect((refused as Error).message).toContain(`Cannot evaluate the skill by evals/evals.json: `);
    expect((refused as Error).message).toContain(message);
  });
});
