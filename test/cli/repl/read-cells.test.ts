import { Readable, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { readCells } from '../../../src/cli/repl/read-cells.ts';
import type { CliIo } from '../../../src/cli/terminal/cli-io.ts';
import type { Language } from '../../../src/contracts/jobs/language.ts';

async function cellsOf(language: Language, text: string): Promise<string[]> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const io = { stdin: Readable.from([Buffer.from(text)]), stdout: nowhere, stderr: nowhere } as unknown as CliIo;
  const cells: string[] = [];
  for await (const cell of readCells(io, language, new AbortController().signal)) cells.push(cell);
  return cells;
}

describe('readCells()', () => {
  it('ends a piece with the line that closes it, but not with an empty line', async () => {
    expect(await cellsOf('javascript', 'f(\n1)\n2\n(\n\n3)\n4\n')).toEqual(['f(\n1)', '2', '(\n\n3)', '4']);
    expect(await cellsOf('bash', 'cat <<EOF\nhi\n\nthere\nEOF\necho\n')).toEqual([
      'cat <<EOF\nhi\n\nthere\nEOF',
      'echo',
    ]);
  });

  it('ends a block of Python with the line that is no longer part of it', async () => {
    const block = 'class A:\n    a = 1\n\n    b = """\n\n"""\n';
    expect(await cellsOf('python', `${block}\n\nA.a\n`)).toEqual([block, 'A.a']);
    const branches = 'if 0:\n  1\n\nelse:\n  2\n';
    expect(await cellsOf('python', `${branches}\n3\n`)).toEqual([branches, '3']);
    expect(await cellsOf('python', 'for a in b:\n  a\n\n')).toEqual(['for a in b:\n  a\n']);
  });

  it('reads a piece of very many lines in linear time', async () => {
    const long = `[\n${'1,\n'.repeat(300_000)}]`;
    const others = '2\n'.repeat(100_000);
    const cells = await cellsOf('javascript', `${long}\n${others}3\n4\n`);
    expect(cells.join('\n')).toBe(`${long}\n${others}3\n4`);
    expect(cells.slice(-2)).toEqual(['3', '4']);
  });
});
