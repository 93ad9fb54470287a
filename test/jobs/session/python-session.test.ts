import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Session } from '../../../src/contracts/jobs/session.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import type { Orchestrator } from '../../../src/jobs/orchestrator.ts';
import { MISSING_PYTHON, requireHere } from '../../fixtures/describe-with.ts';
import { EVERY_LEVEL, everyRunner, requireEachLevel, type EachLevel, runnerOf } from '../../fixtures/every-level.ts';
import { sharedSession } from '../../fixtures/shared-session.ts';

let orchestrator: Orchestrator;
beforeAll(async () => {
  orchestrator = createOrchestrator({ runners: await everyRunner(), allowUnisolated: true });
});
afterAll(() => orchestrator.close());

/** Code of a class with this method. */
const made = (method: string, does: string): string =>
  `class Made(Exception):\n  def ${method}(self, *_):\n    ${does}\n`;

describe.each(EVERY_LEVEL)('Python in a session at level %s', (level) => {
  const open = (): Promise<Session> =>
    orchestrator.session({ language: 'python', isolation: level, runner: runnerOf(level) });
  /** Not for code that changes the interpreter for the next test. */
  const opened = sharedSession(open);

  it('survives errors that fail to describe themselves', async (context) => {
    need(context, level);
    const session = await opened();
    for (const raise of ['raise ValueError', 'raise SystemExit', 'raise KeyboardInterrupt', 'return 1']) {
      const run = await session.run(`${made('__str__', raise)}raise Made()`);
      expect(run).toMatchObject({ outcome: 'failed', state: 'kept', error: { name: 'Made' } });
    }
    expect(await session.run('2')).toMatchObject({ value: 2, epoch: 1 });
  });

  it('survives values that fail to be shown', async (context) => {
    need(context, level);
    const session = await opened();
    for (const [raise, name] of [
      ['ValueError', 'ValueError'],
      ['SystemExit', 'SystemExit'],
      ['KeyboardInterrupt', 'KeyboardInterrupt'],
    ]) {
      const run = await session.run(`${made('__repr__', `raise ${raise}`)}Made()`);
      expect(run).toMatchObject({ outcome: 'failed', state: 'kept', error: { name } });
    }
    expect(await session.run('2')).toMatchObject({ value: 2, epoch: 1 });
  });

  it('stops a value whose display never ends', async (context) => {
    need(context, level);
    const session = await opened();
    for (const code of [
      `${made('__repr__', 'while True: pass')}Made()`,
      `${made('__str__', 'while True: pass')}raise Made()`,
    ]) {
      const run = await session.run(code, { timeoutMs: 500 });
      expect(run).toMatchObject({ outcome: 'timeout', state: 'kept' });
    }
  });

  it('survives streams that are closed or replaced by other objects', async (context) => {
    need(context, level);
    await using session = await open();
    for (const take of ['sys.stderr = object()', 'sys.stdout = object()', 'del sys.stderr', 'sys.__stderr__.close()']) {
      await session.run(`import sys\n${take}`);
      const run = await session.run('1 / 0');
      expect(run).toMatchObject({ outcome: 'failed', state: 'kept', error: { name: 'ZeroDivisionError', line: 1 } });
      expect(run.stderr.text).toContain('division by zero');
    }
    expect(await session.run('sys.exit(3)')).toMatchObject({ state: 'kept', outcome: 'failed', exitCode: 3 });
  });

  it('ends a run if the code exits, with its status, and keeps its definitions', async (context) => {
    need(context, level);
    const session = await opened();
    for (const [code, exitCode, stderr] of [
      ['import sys; kept = 1; sys.exit(3)', 3, ''],
      ['sys.exit()', 0, ''],
      ['raise SystemExit("no data")', 1, 'no data\n'],
      ['sys.exit(2 ** 100)', 255, ''],
      ['import asyncio\nasync def leave(): sys.exit(4)\nawait asyncio.gather(leave())', 4, ''],
      ['exit(5)', 5, ''],
    ] as const) {
      const run = await session.run(`${code}\nnot_reached`);
      expect(run).toMatchObject({ exitCode, state: 'kept', stderr: { text: stderr } });
      expect(run).not.toHaveProperty('error');
      expect(run.outcome).toBe(exitCode === 0 ? 'succeeded' : 'failed');
    }
    expect(await session.run('await asyncio.sleep(0, kept)')).toMatchObject({ value: 1, exitCode: null, epoch: 1 });
    const own = await session.run('def stop():\n  raise KeyboardInterrupt\nstop()');
    expect(own).toMatchObject({ outcome: 'failed', state: 'kept', error: { name: 'KeyboardInterrupt', line: 2 } });
    expect(own.stderr.text).toMatch(/^Traceback.*\n.*line 3.*\n.*\n.*line 2, in stop\n.*\nKeyboardInterrupt\n$/);
  });

  it('runs code that is indented, or begins with a byte order mark', async (context) => {
    need(context, level);
    const session = await opened();
    const indented = '\n    # of a block\n    def double(x):\n        return 2 * x\n\n    double(21)';
    expect(await session.run(indented)).toMatchObject({ value: 42 });
    const failed = await session.run('  x = 1\n  x / 0');
    expect(failed).toMatchObject({ error: { name: 'ZeroDivisionError', line: 2 } });
    expect(failed.stderr.text).toContain('\n    x / 0\n    ~~^~~\n');
    // A comment in the first line may be indented deeper than the code.
    expect(await session.run('    # deeper\nif x:\n    x += 1\nx')).toMatchObject({ value: 2 });
    expect(await session.run('if x:\nx')).toMatchObject({ error: { name: 'IndentationError', line: 2 } });
    expect(await session.run('\uFEFFx + 1')).toMatchObject({ value: 3 });
  });

  it('writes the output of one print call as one piece', async (context) => {
    need(context, level);
    const session = await opened();
    await session.run('import sys\nclass Named:\n  def __str__(self): print("first"); return "named"');
    const stream = session.stream(
      'for i in range(200): print("a", i, None)\nprint(Named())\nprint(1, Named(), sep="", end="!\\n")\nprint("e", file=sys.stderr)',
    );
    const pieces: string[] = [];
    for await (const event of stream) if (event.type === 'output') pieces.push(event.text);
    expect(pieces.filter((piece) => !piece.endsWith('\n') && !piece.endsWith('1'))).toEqual([]);
    const { stdout, stderr } = await stream.result;
    const lines = Array.from({ length: 200 }, (_, index) => `a ${index} None\n`);
    expect([stdout.text, stderr.text]).toEqual([`${lines.join('')}first\nnamed\n1first\nnamed!\n`, 'e\n']);
    for (const code of ['print(1, sep=2)', 'print(1, other=2)', `${made('__str__', '1 / 0')}print(Made())`]) {
      const { error } = await session.run(code);
      expect(error?.stack).toMatch(/^Traceback.*\n {2}File "cell-/);
      expect(error?.stack).not.toContain('whole_print');
    }
    const redirected =
      'import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()) as f: print(1, 2)\nf.getvalue()';
    expect(await session.run(redirected)).toMatchObject({ value: '1 2\n', stdout: { text: '' } });
  });

  it('has the display modules of notebooks even if IPython is not installed', async (context) => {
    need(context, level);
    const session = await opened();
    const shown =
      await session.run(`from IPython.display import display, HTML, Image, JSON, Latex, Markdown, SVG, clear_output
import IPython.core.display
display(HTML('<b>x</b>'), Markdown('# x'), Latex('$x$'), JSON({'a': [1]}), Image(b'\\x89PNG\\r\\n'), SVG('<?xml?><svg></svg>'))
IPython.display.display({'text/csv': 'a,b'}, raw=True)
handle = display('step 1', display_id=True)
handle.update('step 2'); clear_output(wait=True)
IPython.display.display_html(IPython.core.display.HTML('<i>y</i>'))
print(IPython.get_ipython(), HTML('z'))
Image(url='https://example.org/x.png', width=10)`);
    expect(shown).toMatchObject({ outcome: 'succeeded' });
    expect(shown.stdout.text).toBe('None <IPython.core.display.HTML object>\n');
    const forms = shown.results.map(({ data }) => Object.entries(data).find(([type]) => type !== 'text/plain') ?? data);
    expect(forms).toEqual([
      ['text/html', '<b>x</b>'],
      ['text/markdown', '# x'],
      ['text/latex', '$x$'],
      ['application/json', '{"a": [1]}'],
      ['image/png', new Uint8Array(Buffer.from('\u0089PNG\r\n', 'latin1'))],
      ['image/svg+xml', '<svg></svg>'],
      ['text/csv', 'a,b'],
      { 'text/plain': 'step 1' },
      { 'text/plain': 'step 2' },
      ['text/html', '<i>y</i>'],
      ['text/html', '<img src="https://example.org/x.png" width="10"/>'],
    ]);
    expect(await session.run('import IPython.utils')).toMatchObject({ error: { name: 'ModuleNotFoundError' } });
  });

  it('uses an installed IPython for display', async (context) => {
    need(context, level);
    await using session = await open();
    await session.files.write('IPython/__init__.py', 'from . import display');
    await session.files.write(
      'IPython/display.py',
      'from .core.display_functions import *\nclass HTML(str):\n  _repr_html_ = str.__str__',
    );
    await session.files.write('IPython/core/__init__.py', '');
    await session.files.write('IPython/core/display_functions.py', 'def display(*values): print(*values)');
    const run = await session.run(
      'import IPython\nIPython.display.display(IPython.display.HTML("<b>x</b>"))\nIPython.__file__',
    );
    expect(run.value).toMatch(/IPython\/__init__\.py$/);
    expect(run.value).not.toContain('notebook');
    expect(run.results).toMatchObject([{ data: { 'text/html': '<b>x</b>' } }]);
    expect(run.stdout.text).toBe('');
  });

  it('gives the rows of a table as JSON, and their number if there are many', async (context) => {
    need(context, level);
    const session = await opened();
    await session.run(`import json
class Index(list): names = [None]
class RangeIndex(Index): pass
class Table:
  columns = ['a']
  def __init__(self, rows, index): self.rows, self.index, self.shape = rows, index, (len(rows), 1)
  def head(self, most): return type(self)(self.rows[:most], self.index)
  def reset_index(self): return Table([{'index': i, **row} for i, row in zip(self.index, self.rows)], RangeIndex())
  def to_json(self, orient, **_): return json.dumps(self.rows)
  def _repr_html_(self): return '<table>'
class Odd(Table):
  def to_json(self, orient, **_): raise ValueError('two columns of one name')`);
    const rowsOf = async (code: string): Promise<unknown> => {
      const { results } = await session.run(code);
      expect(results).toHaveLength(1);
      expect(results[0]?.data).toMatchObject({ 'text/html': '<table>', 'text/plain': expect.any(String) });
      const json = results[0]?.data['application/json'];
      return typeof json === 'string' ? (JSON.parse(json) as unknown) : undefined;
    };
    expect(await rowsOf(`Table([{'a': 1}, {'a': None}], RangeIndex())`)).toEqual([{ a: 1 }, { a: null }]);
    expect(await rowsOf(`Table([{'a': 1}], Index(['x']))`)).toEqual([{ index: 'x', a: 1 }]);
    const many = (await rowsOf(`Table([{'a': i} for i in range(1001)], RangeIndex())`)) as unknown[];
    expect([many.length, many[0], many[999], many[1000]]).toEqual([1001, { a: 0 }, { a: 999 }, 1001]);
    expect(await rowsOf(`Odd([{'a': 1}], RangeIndex())`)).toBe(undefined);
  });

  it('has one process: a process that the code forks ends with the code', async (context) => {
    need(context, level);
    const session = await opened();
    const forked = await session.run(
      'import os\nchild = os.fork()\nopen(1, "w", closefd=False).write("child\\n" if child == 0 else "parent\\n")\nNone',
    );
    expect(forked).toMatchObject({ outcome: 'succeeded', state: 'kept' });
    const code = 'os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])';
    const ended = await session.run(code);
    expect(ended.value).toBe(0);
    expect(`${forked.stdout.text}${ended.stdout.text}`.split('\n').toSorted()).toEqual(['', 'child', 'parent']);
    await session.run('child = os.fork()\nif child == 0: 1 / 0');
    expect((await session.run(code)).value).toBe(1);
    await session.run('child = os.fork()\nif child == 0: raise SystemExit(7)');
    expect((await session.run(code)).value).toBe(7);
    const own = (await session.run('pid = os.getpid()')).run;
    for (let i = 0; i < 5; i += 1) expect((await session.run('pid == os.getpid()')).value).toBe(true);
    expect((await session.run('1')).run).toBe(own + 6);
  });

  it('gives a value if JSON represents it completely, and shows it otherwise', async (context) => {
    need(context, level);
    const session = await opened();
    for (const [code, value] of [
      ['(1, 2)', [1, 2]],
      ['{"a": [{"b": (None, True, 1.5)}]}', { a: [{ b: [null, true, 1.5] }] }],
    ] as const)
      expect(await session.run(code)).toMatchObject({ value, results: [] });
    for (const code of ['{1: 2}', '[{None: 1}]', "{'a': ({True: []},)}"]) {
      const run = await session.run(code);
      expect(run).not.toHaveProperty('value');
      expect(run.results.map(({ data }) => data)).toEqual([{ 'text/plain': code }]);
    }
  });
});

function need(context: Parameters<typeof requireEachLevel>[0], level: EachLevel): void {
  requireEachLevel(context, level);
  requireHere(context, MISSING_PYTHON);
}
