import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JobEvent } from '../../../src/contracts/jobs/events.ts';
import type { Language } from '../../../src/contracts/jobs/language.ts';
import type { Session, SessionOptions, SessionRun } from '../../../src/contracts/jobs/session.ts';
import type { ToolContext } from '../../../src/tools/define/tool.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import type { Orchestrator } from '../../../src/jobs/orchestrator.ts';
import { MISSING_MATPLOTLIB, MISSING_PYTHON, requireHere } from '../../fixtures/describe-with.ts';
import { EVERY_LEVEL, everyRunner, requireEachLevel, type EachLevel, runnerOf } from '../../fixtures/every-level.ts';
import { BEST_LEVEL } from '../../fixtures/levels.ts';
import { sharedSession } from '../../fixtures/shared-session.ts';
import { skillLibrary, skillText } from '../../fixtures/skill-library.ts';
import { toolList } from '../../fixtures/tool-list.ts';

const library = skillLibrary({
  'units/SKILL.md': skillText({ name: 'units', description: 'Units.' }, 'Give SI units.'),
  'units/data.txt': 'metre',
});
const seen: unknown[] = [];
const tools = toolList([
  [
    'echo.back',
    {
      description: 'Returns its input.',
      effect: 'read',
      execute: async (input: unknown, { context }: ToolContext) => (seen.push(context), input),
    },
  ],
  ['echo.never', { description: 'Never answers.', effect: 'read', execute: () => new Promise<never>(() => undefined) }],
]);
let orchestrator: Orchestrator;

beforeAll(async () => {
  orchestrator = createOrchestrator({
    runners: await everyRunner(),
    allowUnisolated: true,
    tools,
    skills: library.subsystem,
  });
});
afterAll(async () => {
  await orchestrator.close();
  library[Symbol.dispose]();
});

/** The same actions as code of one language. */
interface Dialect {
  language: Language;
  define: string;
  /** Prints the value that `define` has set: 41 and a newline on stdout. */
  show: string;
  value: string;
  print: (text: string) => string;
  thousand: string;
  fail: string;
  loop: string;
  sleep: string;
  exit: string;
}

const DIALECTS: Dialect[] = [
  {
    language: 'javascript',
    define: 'const kept = 41;',
    show: 'console.log(typeof kept === "undefined" ? "gone" : kept)',
    value: '({ answer: kept + 1 })',
    print: (text) => `process.stdout.write(${JSON.stringify(text)}); undefined`,
    thousand: 'for (let i = 0; i < 1000; i++) console.log("line " + i)',
    fail: '1;\nthrow new RangeError("too far");',
    loop: 'for (;;) {}',
    sleep: 'await new Promise((resolve) => setTimeout(resolve, 1e8))',
    exit: 'console.log("last words"); process.exit(3)',
  },
  {
    language: 'python',
    define: 'kept = 41',
    show: 'print(globals().get("kept", "gone"))',
    value: '{"answer": kept + 1}',
    print: (text) => `import sys; sys.stdout.write(${JSON.stringify(text)}); None`,
    thousand: 'for i in range(1000): print("line", i)',
    fail: 'x = 1\nraise RangeError("too far") if False else ValueError("too far")',
    loop: 'while True: pass',
    sleep: 'import time; time.sleep(1e6)',
    exit: 'import os; print("last words", flush=True); os._exit(3)',
  },
  {
    language: 'bash',
    define: 'kept=41',
    show: 'echo "${kept-gone}"',
    value: `echo '{ "answer": '"$((kept + 1))"' }' >"$SKILLCELL_VALUE"`,
    print: (text) => `printf '%s' '${text}'`,
    thousand: 'for ((i = 0; i < 1000; i++)); do echo "line $i"; done',
    fail: 'true\n(exit 7)',
    loop: 'while :; do :; done',
    sleep: 'sleep 100000',
    exit: 'echo "last words"; exit 3',
  },
];
const THOUSAND_LINES = Array.from({ length: 1000 }, (_, index) => `line ${index}\n`).join('');

describe.each(EVERY_LEVEL)('a session at level %s', (level) => {
  const open = (options: SessionOptions = {}): Promise<Session> =>
    orchestrator.session({ isolation: level, ...only(level), ...options });

  describe.each(DIALECTS)(
    'in $language',
    ({ language, define, show, value, print, thousand, fail, loop, sleep, exit }) => {
      const opened = sharedSession(() => open({ language }));

      it('keeps the definitions of a run, and gives values, output and failures', async (context) => {
        need(context, level, language);
        await using session = await open({ language });
        expect(session.interrupt()).toBe(false);
        expect(await session.run(define)).toMatchObject({ run: 1, epoch: 1, state: 'kept', outcome: 'succeeded' });
        expect((await session.run(show)).stdout.text).toBe('41\n');
        const valued = await session.run(value);
        expect(valued).toMatchObject({ value: { answer: 42 }, outcome: 'succeeded', stdout: { text: '' } });
        const failed = await session.run(fail);
        expect(failed).toMatchObject({ outcome: 'failed', state: 'kept' });
        expect(failed).not.toHaveProperty('value');
        if (language === 'bash') expect(failed.exitCode).toBe(7);
        else expect(failed.error).toMatchObject({ message: 'too far', line: 2 });
        expect((await session.run(show)).stdout.text).toBe('41\n');
        expect(await session.close()).toMatchObject({ kind: 'session', outcome: 'succeeded', isolation: level });
      });

      it('gives the complete output of a run to that run', async (context) => {
        need(context, level, language);
        const session = await opened();
        const first = await session.run(thousand);
        expect(first.stdout).toEqual({ text: THOUSAND_LINES, bytes: 8890, truncated: false });
        for (const text of ['a', 'b'.repeat(70_000), 'é✓'])
          expect((await session.run(print(text))).stdout.text).toBe(text);
        const events: JobEvent[] = [];
        const stream = session.stream(thousand);
        for await (const event of stream) events.push(event);
        expect(events[0]).toMatchObject({ type: 'run', run: first.run + 4 });
        expect(events.map((event) => (event.type === 'output' ? event.text : '')).join('')).toBe(THOUSAND_LINES);
        expect((await stream.result).outcome).toBe('succeeded');
      });

      it('stops a loop and a sleep when their time is over, and keeps definitions', async (context) => {
        need(context, level, language);
        const session = await opened();
        const { epoch } = await session.run(define);
        for (const code of [loop, sleep]) {
          const stopped = await session.run(code, { timeoutMs: 400 });
          expect(stopped).toMatchObject({ outcome: 'timeout', state: 'kept', epoch, error: { name: 'RunTimeout' } });
          expect((await session.run(show)).stdout.text).toBe('41\n');
        }
      });

      it('is interrupted by its caller', async (context) => {
        need(context, level, language);
        const session = await opened();
        expect(session.interrupt()).toBe(false);
        await session.run(define);
        const controller = new AbortController();
        for (const [code, stop] of [
          [loop, () => session.interrupt()],
          [sleep, () => controller.abort()],
        ] as const) {
          const stream = session.stream(`${print('on')}\n${code}`, { signal: controller.signal });
          for await (const event of stream) if (event.type === 'output') stop();
          expect(await stream.result).toMatchObject({ outcome: 'canceled', state: 'kept', stdout: { text: 'on' } });
        }
        expect((await session.run(show)).stdout.text).toBe('41\n');
      });

      it('reports a lost run when the interpreter ends, and goes on with the next epoch', async (context) => {
        need(context, level, language);
        const session = await opened();
        const { epoch } = await session.run(define);
        const ended = await session.run(exit);
        expect(ended).toMatchObject({
          state: 'lost',
          epoch,
          outcome: 'failed',
          exitCode: 3,
          stdout: { text: 'last words\n' },
        });
        expect(ended.diagnostics.map(({ code }) => code)).toContain('session.lost');
        expect(await session.run(show)).toMatchObject({ epoch: epoch + 1, state: 'kept', stdout: { text: 'gone\n' } });
      });
    },
  );

  const sum = 'export default (a, b) => a + b;\nexport const one = 1;';
  const opened = sharedSession(() =>
    open({ files: { 'in.txt': 'given', 'lib/sum.mjs': sum }, env: { GIVEN: 'session' } }),
  );
  const openedImpatient = sharedSession(() => open({ limits: { graceMs: 300 } }));

  it('kills code that outlives its grace: C loops, caught interrupts, ignored signals', async (context) => {
    need(context, level, 'python');
    const session = await openedImpatient();
    const language = 'python';
    const { epoch } = await session.run('1', { language });
    for (const [index, code] of [
      'sum(range(10 ** 12))',
      'import time\nwhile True:\n  try:\n    time.sleep(0.01)\n  except KeyboardInterrupt:\n    pass',
      'import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\ntime.sleep(1000)',
    ].entries()) {
      await session.run('kept = 41', { language });
      const killed = await session.run(code, { language, timeoutMs: 300 });
      expect(killed).toMatchObject({ state: 'lost', outcome: 'timeout', epoch: epoch + index, signal: 'SIGKILL' });
      expect((await session.run('"kept" in globals()', { language })).value).toBe(false);
    }
  });

  it('stops JavaScript that loops after an await, in a timer, or catches everything', async (context) => {
    requireEachLevel(context, level);
    const session = await opened();
    await session.run('const kept = 41;');
    for (const code of [
      'await 1; for (;;) {}',
      'setTimeout(() => { for (;;) {} }, 1); await new Promise((resolve) => setTimeout(resolve, 1e8));',
      'for (;;) { try { for (;;) {} } catch {} finally {} }',
      'Promise.resolve().then(() => { for (;;) {} }); await new Promise(() => {});',
    ]) {
      const stopped = await session.run(code, { timeoutMs: 300 });
      expect(stopped.outcome).toBe('timeout');
      const after = await session.run('typeof kept');
      expect(after.value).toBe(stopped.state === 'kept' ? 'number' : 'undefined');
      if (stopped.state === 'lost') await session.run('const kept = 41;');
    }
  });

  it('runs several languages in one workspace, and loses them together', async (context) => {
    need(context, level, 'python');
    const session = await opened();
    expect((await session.run('open("in.txt").read() + "!"', { language: 'python' })).value).toBe('given!');
    expect((await session.run('const kept: number = 41; kept', { language: 'typescript' })).value).toBe(41);
    expect((await session.run('kept + 1')).value).toBe(42);
    await session.run('echo made >made.txt', { language: 'bash' });
    expect((await session.run('require("node:fs").readFileSync("made.txt", "utf8")')).value).toBe('made\n');
    const ended = await session.run('exit 0', { language: 'bash' });
    expect(ended).toMatchObject({ state: 'lost', outcome: 'succeeded' });
    expect(await session.run('typeof kept')).toMatchObject({ value: 'undefined', epoch: ended.epoch + 1 });
  });

  it('resolves imports like a file of the workspace, in all forms', async (context) => {
    requireEachLevel(context, level);
    const session = await opened();
    expect(
      (
        await session.run(
          "import sum, { one as first } from './lib/sum.mjs';\nimport * as path from 'node:path';\nsum(first, path.sep.length)",
        )
      ).value,
    ).toBe(2);
    expect((await session.run("const { one } = await import('./lib/sum.mjs'); one")).value).toBe(1);
    expect((await session.run('export const shown = 5; export default { shown };')).value).toEqual({ shown: 5 });
    expect(
      (await session.run("import { readSkillFile, setValue } from 'skillcell';\nsetValue({ set: true });\n'not this'"))
        .value,
    ).toEqual({ set: true });
    expect((await session.run("import gone from './gone.mjs'")).error?.name).toBe('Error');
    expect((await session.run('async function main() { await 1; return 7; }\nmain()')).value).toBe(7);
  });

  it('carries skills and calls tools, in its own context', async (context) => {
    need(context, level, 'python');
    seen.length = 0;
    await using session = await open({
      skills: { refs: ['custom.units'] },
      tools: ['echo.*'],
      context: { who: level },
    });
    const javascript = await session.run(
      "import { tools, readSkillFile } from 'skillcell';\n[readSkillFile('custom.units', 'data.txt'), await tools.echo.back({ bytes: [1, 2] })]",
    );
    expect(javascript.value).toEqual(['metre', { bytes: [1, 2] }]);
    expect(javascript.calls).toMatchObject([{ name: 'echo.back', ok: true }]);
    const python = await session.run(
      'from skillcell import tools\n[tools.echo.back(a=1), await tools.echo.back.aio(b=2)]',
      { language: 'python' },
    );
    expect(python.value).toEqual([{ a: 1 }, { b: 2 }]);
    expect((await session.run('await tools.absent.there()')).error?.message).toContain('does not have the tool');
    expect(seen).toEqual([{ who: level }, { who: level }, { who: level }]);
    const job = await session.close();
    expect(job.callTotals).toMatchObject({ 'echo.back': { calls: 3, failed: 0 }, '(not allowed)': { calls: 1 } });
    expect(job.skills.active).toEqual(['custom.units']);
  });

  it('ends the calls of a run with the run', async (context) => {
    need(context, level, 'python');
    await using session = await open({ tools: ['echo.*'] });
    await session.run(
      "import { tools } from 'skillcell'; let code = 'none'; const call = tools.echo.never().catch((error) => { code = error.code; }); 1",
    );
    expect((await session.run('await call; code')).value).toBe('tool.job-over');
    await session.run('let late; setTimeout(() => { late = tools.echo.back(1).catch((error) => error.code); }, 50); 1');
    expect((await session.run('await new Promise((resolve) => setTimeout(resolve, 200)); await late')).outcome).toBe(
      'succeeded',
    );
    const stopped = await session.run('from skillcell import tools\ntools.echo.never()', {
      language: 'python',
      timeoutMs: 400,
    });
    expect(stopped).toMatchObject({ outcome: 'timeout', state: 'kept' });
    expect((await session.run('tools.echo.back(3)', { language: 'python' })).value).toBe(3);
  });

  it('shows results in their forms', async (context) => {
    need(context, level, 'python');
    const session = await opened();
    const shown = await session.run(
      "display('<b>1</b>', 'text/html'); display(new Uint8Array([137, 80]), 'image/png'); new Map([[1, 2]])",
    );
    expect(shown.results.map(({ data }) => data)).toEqual([
      { 'text/html': '<b>1</b>' },
      { 'image/png': new Uint8Array([137, 80]) },
      { 'text/plain': 'Map(1) { 1 => 2 }' },
    ]);
    expect(shown).not.toHaveProperty('value');
    expect(JSON.parse(JSON.stringify(shown.results[1]))).toEqual({ data: { 'image/png': 'iVA=' } });
    const python = await session.run(
      'class Table:\n  def _repr_html_(self): return "<table>"\n  def _repr_png_(self): return b"\\x89P"\n  def _repr_mimebundle_(self, **_): return {"odd": "", "x/" + 100 * "y": ""}\ndisplay(Table())\n{1, 2}',
      { language: 'python' },
    );
    expect(python.results[0]?.data).toMatchObject({ 'text/html': '<table>', 'image/png': new Uint8Array([137, 80]) });
    expect(python.results[1]?.data).toEqual({ 'text/plain': '{1, 2}' });
    const mocked = await session.run(
      'from unittest.mock import Mock, MagicMock\nimport array\nfor value in (Mock(), MagicMock()): display(value)\ndisplay(array.array("H", [1, 2]), "image/png")',
      { language: 'python' },
    );
    expect(mocked).toMatchObject({ outcome: 'succeeded', results: [{}, {}, {}] });
    expect(mocked.results.map(({ data }) => Object.keys(data))).toEqual([
      ['text/plain'],
      ['text/plain'],
      ['image/png'],
    ]);
    expect(mocked.results[2]?.data['image/png']).toEqual(new Uint8Array([1, 0, 2, 0]));
    const named = await session.run(
      'from skillcell import display as same\ndisplay(b"\\x89P", "image/png"); same("<i>", "text/html"); display(3.6, "km/h")',
      { language: 'python' },
    );
    expect(named.results.map(({ data }) => data)).toEqual([
      { 'image/png': new Uint8Array([137, 80]) },
      { 'text/html': '<i>' },
      { 'text/plain': '3.6' },
      { 'text/plain': 'km/h' },
    ]);
    expect((await session.run('1')).results).toEqual([]);
  });

  it.for([
    [
      'javascript',
      'process.stdout.write("before"); display("one"); while (!require("node:fs").existsSync("go")); display("two"); 3',
    ],
    [
      'python',
      'import os\nprint("before", end="")\ndisplay("one")\nwhile not os.path.exists("go"): pass\ndisplay("two")\n3',
    ],
  ] as const)('reports a result while the run goes on, in %s', async ([language, code], context) => {
    need(context, level, language);
    const session = await opened();
    const stream = session.stream(code, { language });
    const told: unknown[] = [];
    for await (const event of stream) {
      if (event.type === 'output') told.push(event.text);
      if (event.type !== 'result') continue;
      told.push(event.result.data);
      if (told.length === 2) await session.files.write('go', '');
    }
    const { results, value } = await stream.result;
    await session.files.delete('go');
    expect(told).toEqual(['before', { 'text/plain': 'one' }, { 'text/plain': 'two' }]);
    expect([...results.map(({ data }) => data), value]).toEqual([{ 'text/plain': 'one' }, { 'text/plain': 'two' }, 3]);
  });

  it.for([
    {
      language: 'javascript' as const,
      show: `console.log([process.env.GIVEN, process.env.OWN, require('node:child_process').execFileSync('/bin/sh', ['-c', 'echo "$OWN"'])].join())`,
      change: `process.env.GIVEN = process.env.OWN = 'changed'; process.env.MINE = 'stays'; undefined`,
      mine: `console.log(process.env.MINE, 'OWN' in process.env)`,
      hour: `console.log(new Date(0).getHours())`,
      zone: 'Asia/Tokyo',
      late: 'NODE_DEBUG',
    },
    {
      language: 'python' as const,
      show: `import os, subprocess\nprint(os.environ.get('GIVEN'), os.environ.get('OWN', ''), subprocess.check_output(['/bin/sh', '-c', 'echo "$OWN"'], text=True), sep=',')`,
      change: `import os\nos.environ.update(GIVEN='changed', OWN='changed', MINE='stays')`,
      mine: `print(os.environ['MINE'], str('OWN' in os.environ).lower())`,
      hour: `import time; print(time.localtime(0).tm_hour)`,
      zone: 'JST-9',
      late: 'PYTHONHASHSEED',
    },
    {
      language: 'bash' as const,
      show: `echo "$GIVEN,\${OWN-},$(sh -c 'echo "$OWN"')"; echo`,
      change: `GIVEN=changed; OWN=changed; MINE=stays`,
      mine: `echo "$MINE" "$([[ -v OWN ]] && echo true || echo false)"`,
      hour: `printf '%(%-H)T\\n' 0`,
      zone: 'JST-9',
      late: undefined,
    },
  ])('has the variables of a run for that run only, in $language', async ({ language, ...code }, context) => {
    need(context, level, language);
    const session = await opened();
    const prints = async (text: string, stdout: string, env?: Record<string, string>): Promise<void> => {
      const run = await session.run(text, env === undefined ? { language } : { language, env });
      expect(run).toMatchObject({ outcome: 'succeeded', state: 'kept', stdout: { text: stdout } });
    };
    await prints(code.show, 'session,,\n\n');
    await prints(code.show, `run,it's "$so",it's "$so"\n\n`, { GIVEN: 'run', OWN: `it's "$so"` });
    await prints(code.show, 'session,,\n\n');
    await prints(code.change, '', { GIVEN: 'run', OWN: 'run' });
    await prints(code.show, 'session,,\n\n');
    await prints(code.mine, 'stays false\n');
    await prints(code.hour, '9\n', { TZ: code.zone });
    await prints(code.hour, '0\n');
    const { late = 'NODE_ENV' } = code;
    const { diagnostics } = await session.run(code.hour, {
      language,
      env: { [late]: '1', NODE_ENV: 'test', TZ: 'UTC' },
    });
    const found = diagnostics.map((row) => [row.code, row.message.includes(late)]);
    expect(found).toEqual(code.late === undefined ? [] : [['variable.late', true]]);
    await expect(session.run(code.show, { language, env: { 'no name': '' } })).rejects.toMatchObject({
      code: 'job.invalid',
    });
  });

  it('limits the results of a run, and reports omitted ones', async (context) => {
    requireEachLevel(context, level);
    const session = await opened();
    const buffers = await session.run(
      "const b = new Uint8Array([1, 2, 3]).buffer; for (const d of [b, new DataView(b, 1), new Uint8ClampedArray(b), new Uint8Array(b, 2)]) display(d, 'image/png')",
    );
    expect(buffers.results.map(({ data }) => [...(data['image/png'] as Uint8Array)])).toEqual([
      [1, 2, 3],
      [2, 3],
      [1, 2, 3],
      [3],
    ]);
    for (const named of ["new String('text/html')", "['text/html']", '1'])
      expect(await session.run(`display('a', ${named})`)).toMatchObject({
        error: { message: expect.stringContaining('the second argument is no media type') as unknown },
        state: 'kept',
        results: [],
      });
    const many = await session.run('for (let i = 0; i < 70; i++) display(String(i)); undefined');
    expect(many.results).toHaveLength(64);
    expect(many.diagnostics).toMatchObject([{ code: 'result.omitted' }]);
    const large = await session.run("display(new Uint8Array(20 * 1024 * 1024), 'image/png'); 'x'.repeat(300_000)");
    expect(large).toMatchObject({ results: [], outcome: 'succeeded' });
    expect(large.diagnostics.map(({ code }) => code).toSorted()).toEqual(['result.omitted', 'value.invalid']);
  });

  it.for([
    [
      'javascript',
      'throw new Error("begin" + "x".repeat(9 * 2 ** 20) + "end")',
      'import("skillcell").then(({ setValue }) => setValue("x".repeat(9 * 2 ** 20)))',
    ],
    [
      'python',
      'raise ValueError("begin" + "x" * (9 * 2 ** 20) + "end")',
      'import skillcell; skillcell.set_value("x" * (9 * 2 ** 20))',
    ],
  ] as const)(
    'goes on in %s after an error, and a value, larger than a message',
    async ([language, fail, set], context) => {
      need(context, level, language);
      const session = await opened();
      const failed = await session.run(fail, { language });
      expect(failed).toMatchObject({ outcome: 'failed', state: 'kept' });
      expect(failed.error?.message).toMatch(/^beginx+\n…\nx+end$/);
      const message = `The value is left out: over 262144 bytes, got ${9 * 2 ** 20 + 2}.`;
      expect(await session.run(set, { language })).toMatchObject({
        outcome: 'succeeded',
        state: 'kept',
        diagnostics: [{ code: 'value.invalid', message }],
      });
    },
  );

  it('tells the next run that an interpreter ended between two runs', async (context) => {
    requireEachLevel(context, level);
    const session = await opened();
    const { epoch } = await session.run('mkfifo held', { language: 'bash' });
    // The pipe opens when its reader comes, and ends with the process that holds it; the parent learns of that a moment later.
    const held = await session.run("var lost = 1; require('node:fs').open('held', 'w', () => process.exit(3)); 0");
    expect(held.outcome).toBe('succeeded');
    expect((await session.run('cat held', { language: 'bash' })).outcome).toBe('succeeded');
    let next: SessionRun;
    do next = await session.run('sleep 0.1; export SKILLCELL_VALUE=', { language: 'bash' });
    while (next.epoch === epoch);
    expect(next).toMatchObject({ outcome: 'succeeded', state: 'kept', epoch: epoch + 1 });
    expect(next.diagnostics).toMatchObject([
      {
        code: 'session.lost',
        message: expect.stringMatching(/^Between this run and the previous one .* with code 3, /) as unknown,
      },
    ]);
    expect(await session.run('typeof lost')).toMatchObject({ value: 'undefined', epoch: epoch + 1, diagnostics: [] });
  });

  it('attributes asynchronous failures to the current run', async (context) => {
    requireEachLevel(context, level);
    const session = await opened();
    expect(await session.run("Promise.reject(new TypeError('late')); 1")).toMatchObject({
      outcome: 'failed',
      error: { name: 'TypeError' },
      state: 'kept',
    });
    expect(
      await session.run(
        "setTimeout(() => { throw new Error('thrown'); }, 5); await new Promise((resolve) => setTimeout(resolve, 100)); 2",
      ),
    ).toMatchObject({ outcome: 'failed', error: { message: 'thrown' } });
    expect((await session.run('3')).value).toBe(3);
  });

  it('keeps the results of a run that is lost', async (context) => {
    requireEachLevel(context, level);
    const session = await opened();
    const lost = await session.run('display("one"); process.kill(process.pid, "SIGKILL"); for (;;);');
    expect(lost).toMatchObject({ state: 'lost', signal: 'SIGKILL', results: [{ data: { 'text/plain': 'one' } }] });
  });

  it('runs out of memory in one epoch, and goes on', async (context) => {
    need(context, level, 'python');
    await using session = await open({ language: 'python', limits: { memoryMib: 128 } });
    const over = await session.run(
      'held = bytearray(400 * 1024 * 1024)\nfor i in range(0, len(held), 4096): held[i] = 1\nimport time; time.sleep(5)',
    );
    expect(over).toMatchObject({ outcome: 'out_of_memory', state: 'lost' });
    expect(await session.run('1 + 1')).toMatchObject({ value: 2, epoch: 2 });
    // Files in /dev/shm are memory of the sandbox and are removed with the epoch; at level none they belong to the machine.
    if (level === 'none') return;
    const shared = await session.run(
      "file = open('/dev/shm/held', 'wb', buffering=0)\nfor _ in range(125): file.write(bytes(1 << 20))\nimport time; time.sleep(5)",
    );
    expect(shared).toMatchObject({ outcome: 'out_of_memory', state: 'lost' });
    expect(await session.run('1 + 1')).toMatchObject({ value: 2, epoch: 3 });
  });

  it('reads and writes its workspace with the rights of user code', async (context) => {
    requireEachLevel(context, level);
    await using session = await open({ files: { 'in.txt': 'given' } });
    const { files } = session;
    await files.write('deep/folder/a.bin', new Uint8Array([0, 255]));
    await files.write('text.txt', 'first and longer');
    await files.write('text.txt', 'second');
    expect(await files.read('deep/folder/a.bin')).toEqual(Buffer.from([0, 255]));
    expect(await files.read('text.txt', 'utf8')).toBe('second');
    expect((await session.run("require('node:fs').readFileSync('text.txt', 'utf8')")).value).toBe('second');
    await session.run("require('node:fs').writeFileSync('made.txt', 'by a run')");
    expect((await files.list()).map(({ path, kind, bytes }) => [path, kind, bytes])).toEqual([
      ['deep', 'folder', 0],
      ['deep/folder', 'folder', 0],
      ['deep/folder/a.bin', 'file', 2],
      ['in.txt', 'file', 5],
      ['made.txt', 'file', 8],
      ['out', 'folder', 0],
      ['text.txt', 'file', 6],
    ]);
    await files.delete('deep');
    await files.delete('text.txt');
    expect((await files.list()).map(({ path }) => path)).toEqual(['in.txt', 'made.txt', 'out']);
    await expect(files.read('text.txt')).rejects.toMatchObject({ code: 'file.unreadable' });
    for (const path of ['../in.txt', '/etc/passwd', 'a//b', '.', 'a\0b'])
      await expect(files.read(path)).rejects.toMatchObject({ code: 'job.invalid' });
    await session.run("require('node:fs').writeFileSync('large.bin', Buffer.alloc(32 * 1024 * 1024 + 1))");
    await expect(files.read('large.bin')).rejects.toThrow(/at most 33554432 bytes .*, it has 33554433/);
    await files.delete('large.bin');
    expect((await session.run('1')).epoch).toBe(1);
  });

  it('exports its workspace, and accepts an exported one', async (context) => {
    requireEachLevel(context, level);
    await using session = await open({ files: { 'a/in.txt': 'given' } });
    await session.run(
      "const fs = require('node:fs'); fs.symlinkSync('/etc/hostname', 'link'); fs.writeFileSync('run.sh', '#!/bin/sh', { mode: 0o755 });",
    );
    const { archive, omitted } = await session.export();
    expect(omitted).toEqual([{ path: 'link', reason: 'it is no regular file' }]);
    const { readArchive } = await import('../../../src/jobs/session/read-archive.ts');
    const files = await readArchive(archive, { files: 100, bytes: 1_000_000 });
    expect(files).toMatchObject([
      { destination: 'a/in.txt', executable: false },
      { destination: 'run.sh', executable: true },
    ]);
    await using second = await open({ files });
    expect(await second.files.read('a/in.txt', 'utf8')).toBe('given');
  });

  it.for([
    [
      'javascript',
      `process.on('exit', () => require('node:fs').writeFileSync(process.env.SKILLCELL_OUTPUT + '/at-end', 'done'))`,
    ],
    [
      'python',
      `import atexit, os\nheld = open(os.environ['SKILLCELL_OUTPUT'] + '/at-end', 'w')\natexit.register(held.write, 'ne')\nheld.write('do')`,
    ],
    ['bash', `trap 'printf done >"$SKILLCELL_OUTPUT/at-end"; echo unheard' EXIT`],
  ] as const)('runs the exit handlers of its interpreters at its end: %s', async ([language, code], context) => {
    need(context, level, language);
    const session = await open({ language });
    expect(await session.run(code)).toMatchObject({ outcome: 'succeeded', state: 'kept' });
    const job = await session.close();
    expect(job.outcome).toBe('succeeded');
    expect(await orchestrator.readArtifact(job, 'at-end', 'utf8')).toBe('done');
  });

  it('kills exit handlers that outlive its grace', async (context) => {
    need(context, level, 'python');
    const session = await openedImpatient();
    await session.run('process.on("exit", () => { for (;;); }); undefined');
    await session.run('import atexit, os\n@atexit.register\ndef stay():\n  print("x" * 2 ** 20)\n  while True: pass', {
      language: 'python',
    });
    await session.run(`trap 'while :; do :; done' EXIT`, { language: 'bash' });
    expect(await session.close()).toMatchObject({ outcome: 'succeeded' });
  });

  it('leaves artifacts when it is closed, and refuses later calls', async (context) => {
    requireEachLevel(context, level);
    const session = await open();
    await session.run("require('node:fs').writeFileSync(process.env.SKILLCELL_OUTPUT + '/report.md', '# Done')");
    const job = await session.close();
    expect(job.artifacts).toMatchObject([{ path: 'report.md', bytes: 6 }]);
    expect(await orchestrator.readArtifact(job, 'report.md', 'utf8')).toBe('# Done');
    expect(await session.close()).toBe(job);
    await expect(session.run('1')).rejects.toMatchObject({ code: 'session.ended' });
    await expect(session.files.list()).rejects.toMatchObject({ code: 'session.ended' });
    await expect(session.export()).rejects.toMatchObject({ code: 'session.ended' });
    expect(session.interrupt()).toBe(false);
  });
});

it('shows the figures that a run leaves open, and no figures of another run', async (context) => {
  requireHere(context, MISSING_PYTHON ?? MISSING_MATPLOTLIB);
  await using session = await orchestrator.session({ language: 'python', isolation: BEST_LEVEL, ...only(BEST_LEVEL) });
  const first = await session.run(
    'from matplotlib import pyplot as plt\nplt.plot([1, 2])\nplt.figure(); plt.plot([2, 1])\nNone',
  );
  expect(
    first.results.map(({ data }) =>
      Buffer.from(data['image/png'] ?? '')
        .subarray(1, 4)
        .toString(),
    ),
  ).toEqual(['PNG', 'PNG']);
  expect((await session.run('1')).results).toEqual([]);
  const shown = await session.run('plt.plot([3, 4])\nplt.show()\nprint("after")');
  expect(shown).toMatchObject({ stdout: { text: 'after\n' }, stderr: { text: '' } });
  expect(shown.results.map(({ data }) => Object.keys(data))).toEqual([['image/png', 'text/plain']]);
});

/** The runner with this level. */
function only(level: EachLevel): Pick<SessionOptions, 'runner'> {
  return { runner: runnerOf(level) };
}

function need(context: Parameters<typeof requireEachLevel>[0], level: EachLevel, language: Language): void {
  requireEachLevel(context, level);
  if (language === 'python') requireHere(context, MISSING_PYTHON);
}
