import { describe, expect, it } from 'vitest';
import type { AssertionSpec } from '../../src/evals/assertions/assertion-schema.ts';
import { CheckUnmade, type RunProduct } from '../../src/evals/assertions/assertion.ts';
import { compileAssertion } from '../../src/evals/assertions/compile-assertion.ts';
import { cpuMs } from '../fixtures/cpu-ms.ts';

/** The output of a run, in short. */
function product(left: {
  files?: Record<string, string | Uint8Array>;
  stdout?: string;
  stderr?: string;
  value?: unknown;
  truncated?: boolean;
  omitted?: RunProduct['result']['omitted'];
}): RunProduct {
  const output = (text = ''): object => ({ text, bytes: text.length, truncated: left.truncated ?? false });
  return {
    files: new Map(Object.entries(left.files ?? {}).map(([path, content]) => [path, Buffer.from(content as string)])),
    result: {
      outcome: 'succeeded',
      stdout: output(left.stdout),
      stderr: output(left.stderr),
      omitted: left.omitted ?? [],
      ...('value' in left ? { value: left.value } : {}),
    } as unknown as RunProduct['result'],
  };
}

async function verdict(spec: AssertionSpec, left: Parameters<typeof product>[0]): Promise<string> {
  const { check } = await compileAssertion(spec, 'evals.0.assertions.0', () => () => undefined);
  return (await check?.(product(left))) ?? 'passed';
}

const files = {
  'a.txt': 'One\nTwo\n',
  'a.json': '{"rows":[{"total":3.5}],"a/b":null}',
  'a.png': Uint8Array.of(0xff, 0xfe),
};

describe('an assertion about files', () => {
  it.each<[AssertionSpec, string]>([
    [{ type: 'file-exists', path: 'a.txt' }, 'passed'],
    [{ type: 'file-exists', path: 'b.txt' }, 'there is no artifact "b.txt"'],
    [{ type: 'file-exists', path: 'b.txt', not: true }, 'passed'],
    [{ type: 'file-exists', path: 'a.txt', not: true }, '"a.txt" is there'],
    [{ type: 'file-contains', path: 'a.txt', text: 'Two' }, 'passed'],
    [{ type: 'file-contains', path: 'a.txt', text: 'two' }, '"a.txt" does not hold "two"'],
    [{ type: 'file-contains', path: 'a.txt', text: 'two', ignore_case: true }, 'passed'],
    [{ type: 'file-contains', path: 'a.txt', text: 'Two', not: true }, '"a.txt" holds "Two"'],
    [{ type: 'file-contains', path: 'b.txt', text: 'Two', not: true }, 'there is no artifact "b.txt"'],
    [{ type: 'file-contains', path: 'a.png', text: 'x', not: true }, '"a.png" is no UTF-8'],
    [{ type: 'file-matches', path: 'a.txt', pattern: '^One\\nT\\w+\\n$' }, 'passed'],
    [{ type: 'file-matches', path: 'a.txt', pattern: '^Two' }, '"a.txt" does not hold the pattern "^Two"'],
    [{ type: 'file-matches', path: 'a.txt', pattern: 'ONE', ignore_case: true }, 'passed'],
    [{ type: 'file-equals', path: 'a.txt', text: 'One\nTwo\n' }, 'passed'],
    [{ type: 'file-equals', path: 'a.txt', text: 'One\nTwo' }, '"a.txt" holds "One\\nTwo\\n"'],
    [{ type: 'json-equals', path: 'a.json', at: '/rows/0/total', value: 3.5 }, 'passed'],
    [{ type: 'json-equals', path: 'a.json', at: '/rows/0/total', value: 3.6, tolerance: 0.2 }, 'passed'],
    [{ type: 'json-equals', path: 'a.json', at: '/rows/0/total', value: 3.6 }, 'it is 3.5 and not 3.6'],
    [{ type: 'json-equals', path: 'a.json', at: '/a~1b', value: null }, 'passed'],
    [{ type: 'json-equals', path: 'a.json', at: '/rows/length', value: 1 }, 'it has nothing at "/rows/length"'],
    [{ type: 'json-equals', path: 'a.json', at: '/constructor', value: 1 }, 'it has nothing at "/constructor"'],
    [{ type: 'json-equals', path: 'a.json', value: { 'a/b': null, rows: [{ total: 3.5 }] } }, 'passed'],
  ])('%j says %s', async (spec, said) => {
    expect(await verdict(spec, { files })).toBe(said);
  });

  it('reports a file that is no JSON', async () => {
    expect(await verdict({ type: 'json-equals', path: 'a.txt', value: 1 }, { files })).toContain(
      '"a.txt" holds no JSON',
    );
  });
});

describe('an assertion about a file that was left out', () => {
  const reason = 'a symbolic link';
  it.each([
    ['it', 'a/b.txt'],
    ['its folder', 'a'],
    ['all', '.'],
    ['more than the rows show', '…'],
  ])('cannot confirm its absence if %s was left out', async (_what, path) => {
    const left = { omitted: [{ path, reason }] };
    const absent = verdict({ type: 'file-exists', path: 'a/b.txt', not: true }, left);
    await expect(absent).rejects.toThrow(CheckUnmade);
    await expect(absent).rejects.toThrow(
      `it is unknown whether "a/b.txt" was there: "${path}" was left out, ${reason}`,
    );
    // An assertion that needs the file fails.
    for (const spec of [
      { type: 'file-exists', path: 'a/b.txt' },
      { type: 'file-contains', path: 'a/b.txt', text: 'x', not: true },
    ] as const)
      expect(await verdict(spec, left)).toBe(`there is no artifact "a/b.txt": "${path}" was left out, ${reason}`);
  });

  it('confirms its absence if another file was left out', async () => {
    const left = { omitted: ['b', 'a.txt/c', 'a.tx'].map((path) => ({ path, reason })) };
    expect(await verdict({ type: 'file-exists', path: 'a.txt', not: true }, left)).toBe('passed');
  });
});

describe('an assertion about the value', () => {
  it.each<[AssertionSpec, unknown, string]>([
    [{ type: 'value-equals', value: 0 }, -0, 'passed'],
    [{ type: 'value-equals', value: [1, { a: 2 }] }, [1, { a: 2 }], 'passed'],
    [{ type: 'value-equals', value: [1] }, { 0: 1 }, 'it is {"0":1} and not [1]'],
    [{ type: 'value-equals', value: { a: 1 } }, { a: 1, b: 2 }, 'it is {"a":1,"b":2} and not {"a":1}'],
    [{ type: 'value-equals', value: '1' }, 1, 'it is 1 and not "1"'],
    [{ type: 'value-equals', value: null }, undefined, 'the program handed back no value'],
    [{ type: 'value-in-range', at: '/n', min: 1, max: 3 }, { n: 3 }, 'passed'],
    [{ type: 'value-in-range', min: 1, max: 3 }, 3.1, 'it is outside 1 to 3, got 3.1'],
    [{ type: 'value-in-range', min: 1 }, '2', 'it is no number, got "2"'],
    [{ type: 'value-fits-schema', schema: { type: 'integer' } }, 2, 'passed'],
  ])('%j says of %j %s', async (spec, value, said) => {
    expect(await verdict(spec, value === undefined ? {} : { value })).toBe(said);
  });

  it('by a schema names the part that does not fit', async () => {
    const schema = { type: 'object', properties: { a: { type: 'integer' } } };
    expect(await verdict({ type: 'value-fits-schema', schema }, { value: { a: 1.5 } })).toMatch(/\ba\b.*integer/);
  });
});

describe('an assertion about the output', () => {
  it('checks stdout, or stderr on request', async () => {
    const left = { stdout: 'out', stderr: 'err' };
    expect(await verdict({ type: 'output-contains', text: 'out' }, left)).toBe('passed');
    expect(await verdict({ type: 'output-contains', text: 'err' }, left)).toBe('stdout does not hold "err"');
    expect(await verdict({ type: 'output-matches', pattern: '^err$', stream: 'stderr' }, left)).toBe('passed');
    expect(await verdict({ type: 'output-contains', text: 'out', not: true }, left)).toBe('stdout holds "out"');
  });

  it('cannot be checked if the end was cut off', async () => {
    const cut = { stdout: 'out', truncated: true };
    await expect(verdict({ type: 'output-contains', text: 'x', not: true }, cut)).rejects.toThrow(CheckUnmade);
  });
});

describe('a pattern', () => {
  it('takes time in proportion to the text', async () => {
    const spec: AssertionSpec = { type: 'output-matches', pattern: '^(a|a)*$' };
    const { check } = await compileAssertion(spec, 'evals.0.assertions.0', () => () => undefined);
    const evil = product({ stdout: `${'a'.repeat(20_000)}b` });
    let said: unknown;
    const spent = cpuMs(() => {
      said = check?.(evil);
    });
    expect(said).toContain('does not hold');
    expect(spent).toBeLessThan(5_000);
  });

  it('that would take too long on a text leaves the question open', async () => {
    const stdout = 'x'.repeat(1_000_000);
    const spec: AssertionSpec = { type: 'output-matches', pattern: '(?:a{0,100}b){9}' };
    await expect(verdict(spec, { stdout })).rejects.toThrow('takes too much work to check');
  });

  it.each(['(', '(?=a)', '(a)\\1'])('%s is refused before anything runs, by its field', async (pattern) => {
    await expect(verdict({ type: 'output-matches', pattern }, {})).rejects.toMatchObject({
      code: 'eval.invalid',
      message: expect.stringMatching(/evals\.0\.assertions\.0\.pattern cannot be searched for: /),
    });
  });
});

it('a schema that cannot be enforced is refused before anything runs, by its field', async () => {
  const spec: AssertionSpec = { type: 'value-fits-schema', schema: { $dynamicRef: '#x' } };
  await expect(verdict(spec, {})).rejects.toMatchObject({
    code: 'eval.invalid',
    message: expect.stringMatching(/evals\.0\.assertions\.0\.schema cannot be enforced: .*dynamicRef/),
  });
});
