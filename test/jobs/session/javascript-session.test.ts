import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Session, SessionRun } from '../../../src/contracts/jobs/session.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import type { Orchestrator } from '../../../src/jobs/orchestrator.ts';
import { createLocalRunner } from '../../../src/sandboxes/local/local-runner.ts';
import { BEST_LEVEL } from '../../fixtures/levels.ts';
import { sharedSession } from '../../fixtures/shared-session.ts';

let orchestrator: Orchestrator;
beforeAll(() => {
  orchestrator = createOrchestrator({ runners: [createLocalRunner()], allowUnisolated: true });
});
afterAll(() => orchestrator.close());

/** A hanging run is stopped after this time; no run of this file may reach it. */
const limits = { runTimeoutMs: 20_000 };
const open = (): Promise<Session> => orchestrator.session({ isolation: BEST_LEVEL, limits });

/** Runs pieces of code one after the other in a session. */
async function runAll(session: Session, pieces: string[], language?: 'typescript'): Promise<SessionRun[]> {
  const runs: SessionRun[] = [];
  for (const code of pieces) runs.push(await session.run(code, language && { language }));
  return runs;
}

describe('a value that throws while it is described', () => {
  const opened = sharedSession(open);

  it.each([
    ['({ [Symbol.for("nodejs.util.inspect.custom")]() { throw new Error("no view"); }, f() {} })', 'no view'],
    ['({ f() {}, [Symbol.for("Jupyter.display")]() { throw new Error("no form"); } })', 'no form'],
    ['({ get [Symbol.for("Jupyter.display")]() { throw new Error("no name"); } })', 'no name'],
    ['new Proxy({}, { get() { throw new Error("no field"); } })', 'no field'],
    ['Object.defineProperty(Promise.resolve(), "constructor", { get() { throw new Error("no kind"); } })', 'no kind'],
    ['throw Object.assign(new Error("odd stack"), { stack: 5 })', 'odd stack'],
    ['throw Object.assign(new Error(), { message: { a: 1 } })', '{ a: 1 }'],
    ['throw Object.defineProperty(new Error(), "message", { get() { throw 1; } })', 'cannot be read'],
    ['throw new Proxy(new Error("behind"), { get() { throw 1; } })', 'cannot be read'],
    ['throw { [Symbol.for("nodejs.util.inspect.custom")]() { throw 1; } }', 'nodejs.util.inspect.custom'],
  ])('fails the run and keeps the session: %s', async (code, message) => {
    const [failed, after] = await runAll(await opened(), [code, '1 + 1']);
    expect(failed).toMatchObject({
      outcome: 'failed',
      state: 'kept',
      error: { message: expect.stringContaining(message) },
    });
    expect(after).toMatchObject({ value: 2, epoch: failed?.epoch, stderr: { text: '' } });
  });

  it('is stopped if its description never ends', async () => {
    const session = await opened();
    const endless = '({ f() {}, [Symbol.for("nodejs.util.inspect.custom")]() { for (;;) {} } })';
    const stopped = await session.run(endless, { timeoutMs: 300 });
    expect(stopped).toMatchObject({ outcome: 'timeout', state: 'kept' });
    expect(await session.run('1')).toMatchObject({ value: 1, epoch: stopped.epoch });
  });

  // The last tests of the session: they change a global, and each row sets it anew.
  it.each(['() => { throw 1; }', '() => 5'])('is reported with Error.prepareStackTrace = %s', async (prepare) => {
    const runs = await runAll(await opened(), [
      `Error.prepareStackTrace = ${prepare}; 0`,
      'throw new RangeError("far")',
      'setTimeout(() => { throw new RangeError("late"); }); await new Promise((resolve) => setTimeout(resolve, 50));',
      '1',
    ]);
    expect(runs).toMatchObject([
      { value: 0 },
      { outcome: 'failed', error: { name: 'RangeError', message: 'far' }, state: 'kept' },
      { outcome: 'failed', error: { name: 'RangeError', message: 'late' }, state: 'kept' },
      { value: 1, epoch: runs[0]?.epoch },
    ]);
  });
});

describe('globals that a run changes', () => {
  const opened = sharedSession(open);

  const changes = [
    'import { mock } from "node:test"; mock.timers.enable();',
    'globalThis.Promise = undefined;',
    'Array.prototype.map = () => 1;',
    'JSON.stringify = () => "wrong";',
    'Object.prototype.then = () => undefined;',
    'Object.prototype.toJSON = () => "wrong";',
    'Object.prototype.value = "p";',
    'Symbol.for = () => Symbol();',
    'process.stderr.write = () => { throw new Error("closed"); };',
    'globalThis.Buffer = undefined;',
    'JSON.parse = () => "wrong";',
    'Array.prototype.toJSON = () => "wrong";',
    'Object.prototype.objectId = "p";',
    'Object.prototype.exceptionDetails = {};',
    'globalThis.globalThis = undefined;',
    'Object.keys = Reflect.ownKeys = Array.isArray = () => [];',
    'globalThis.setImmediate = globalThis.setInterval = undefined;',
  ];
  it.each(changes)('do not change reports: %s', async (code) => {
    const session = await opened();
    const [changed, ...after] = await runAll(session, [
      `${code} undefined`,
      'undefined',
      '[{ a: 1 }]',
      'new Map([[1, 2]])',
      'throw new RangeError("far")',
      'import { sep } from "node:path"; sep',
      '"x".repeat(70_000).length',
    ]);
    // The next row needs unchanged globals, thus an interpreter of its own.
    expect(await session.run('process.kill(process.pid, "SIGKILL"); for (;;);')).toMatchObject({ state: 'lost' });
    expect(changed).toMatchObject({ outcome: 'succeeded', state: 'kept' });
    expect(changed).not.toHaveProperty('value');
    expect(after).toMatchObject([
      { outcome: 'succeeded', results: [] },
      { value: [{ a: 1 }], results: [] },
      { results: [{ data: { 'text/plain': 'Map(1) { 1 => 2 }' } }] },
      { error: { name: 'RangeError', message: 'far', line: 1 } },
      { value: '/' },
      { value: 70_000, epoch: changed?.epoch },
    ]);
    expect(after[0]).not.toHaveProperty('value');
  });

  it('are reported if they hide the result of the run, and are reverted', async () => {
    const [changed, after] = await runAll(await opened(), [
      'Object.prototype.error = "x"; 1',
      '[Object.prototype.error === undefined]',
    ]);
    expect(changed).toMatchObject({ outcome: 'failed', state: 'kept' });
    expect(changed?.error?.message).toContain('Object.prototype has a field `error`');
    expect(after).toMatchObject({ value: [true], epoch: changed?.epoch, stderr: { text: '' } });
  });

  it('end the interpreter if they cannot be reverted', async () => {
    const fix = 'Object.defineProperty(Object.prototype, "toJSON", { value: () => "wrong" }); undefined';
    const [fixed, after] = await runAll(await opened(), [fix, '1']);
    expect(fixed).toMatchObject({ outcome: 'failed', state: 'lost' });
    expect(fixed?.error?.message).toContain('Object.prototype has a field `toJSON`');
    expect(after).toMatchObject({ value: 1, epoch: (fixed?.epoch ?? 0) + 1 });
  });

  it('including listeners of the process, do not change the reports of late errors', async () => {
    const runs = await runAll(await opened(), [
      'process.removeAllListeners(); undefined',
      'setTimeout(() => { throw new Error("thrown"); }); await new Promise((resolve) => setTimeout(resolve, 50));',
      'Promise.reject(new TypeError("left")); 2',
      'process.on("uncaughtException", ({ message }) => console.log("heard", message)); setTimeout(() => { throw new Error("again"); }); await new Promise((resolve) => setTimeout(resolve, 50));',
      'console.log("bye"); process.exit(3)',
    ]);
    expect(runs[1]).toMatchObject({ error: { message: 'thrown' }, state: 'kept' });
    expect(runs[2]).toMatchObject({ error: { message: 'left' }, state: 'kept' });
    expect(runs[3]).toMatchObject({ error: { message: 'again' }, stdout: { text: 'heard again\n' } });
    expect(runs[3]?.epoch).toBe(runs[0]?.epoch);
    expect(runs[4]).toMatchObject({ exitCode: 3, state: 'lost', stdout: { text: 'bye\n' } });
  });
});

describe('a run that is stopped while it awaits', () => {
  // The first of these crashed Node when the memory of its promise was freed, a run later.
  it.each(['Promise.resolve().then(() => { for (;;) {} }); await new Promise(() => {});', 'await 1; for (;;) {}'])(
    'leaves an interpreter that can collect its garbage: %s',
    async (code) => {
      await using session = await open();
      await session.run('const kept = 41;');
      for (let round = 0; round < 3; round += 1) {
        expect(await session.run(code, { timeoutMs: 300 })).toMatchObject({ outcome: 'timeout', state: 'kept' });
      }
      // User code may have changed the globals before the next stop.
      await session.run('Object.defineProperty = Reflect.deleteProperty = () => { throw 1; }');
      expect(await session.run(code, { timeoutMs: 300 })).toMatchObject({ outcome: 'timeout', state: 'kept' });
      const collect = 'for (let i = 0; i < 10; i += 1) Array.from({ length: 200_000 }, () => ({})); ({ of: kept + 1 })';
      expect(await session.run(collect)).toMatchObject({ outcome: 'succeeded', value: { of: 42 }, epoch: 1 });
    },
  );
});

describe('modules', () => {
  const opened = sharedSession(open);

  it('export a value after a line without a semicolon', async () => {
    const [first, second] = await runAll(await opened(), ['const a = 1\nexport default 42', 'export { a }; a']);
    expect(first).toMatchObject({ value: 42 });
    expect(second).toMatchObject({ value: 1 });
  });

  it.each([
    ['import { nope } from "node:fs"', "'node:fs' does not provide an export named 'nope'"],
    ['import nope from "./lib.mjs"', "'./lib.mjs' does not provide an export named 'default'"],
    ['import * as all from "./lib.mjs"; import { one, "odd name" as odd } from "./lib.mjs"', "named 'odd name'"],
    ['export { nope } from "node:fs"', "'node:fs' does not provide an export named 'nope'"],
  ])('report the missing export: %s', async (code, message) => {
    const session = await opened();
    await session.files.write('lib.mjs', 'export const one = 1;');
    expect(await session.run(`1;\n${code}`)).toMatchObject({
      error: { name: 'SyntaxError', message: expect.stringContaining(message) },
      outcome: 'failed',
    });
  });

  it('are imported before the code above them runs, and keep line numbers', async () => {
    const [early, directive, failed] = await runAll(await opened(), [
      '#!/usr/bin/env node\nconst joined = join("a", "b");\nimport {\n  join,\n} from "node:path";\njoined',
      '"use strict";\n(function () { return this === undefined; })() && typeof basename;\nimport { basename } from "node:path";',
      '// begins\nconst first = 1\nimport * as path from "node:path"\nthrow new Error(path.sep)',
    ]);
    expect(early).toMatchObject({ value: 'a/b' });
    expect(directive).toMatchObject({ value: 'function' });
    expect(failed).toMatchObject({ error: { message: '/', line: 4 } });
  });
});

describe('syntax errors', () => {
  const opened = sharedSession(open);

  it.each([
    ['import "node:fs";\nlet b c;', 2],
    ['let a = 1;\nlet b c;', 2],
    ['1;\n\nconst q = 1; const q = 2;', 3],
    ['export const a = 1;\nfoo(;', 2],
    ['import("node:fs");\nlet b c;', 2],
  ])('have a line, and a place on stderr: %j', async (code, line) => {
    const [failed] = await runAll(await opened(), [code]);
    expect(failed).toMatchObject({ outcome: 'failed', error: { name: 'SyntaxError', line } });
    expect(failed?.error?.message).not.toContain('outside a module');
    expect(failed?.stderr.text).toMatch(
      new RegExp(`^Uncaught SyntaxError: .*\\n    at cell-${failed?.run}:${line}:\\d+\\n$`),
    );
  });

  it.each([
    ['const a: number = 1;\nlet b c;', 2],
    ['const a: number = 1;\n\n  enum A { B }', 3],
    ['const a: number = 1;\nconst a: number = 2;', 2],
  ])('have a line and a place in TypeScript as well: %j', async (code, line) => {
    const [failed] = await runAll(await opened(), [code], 'typescript');
    expect(failed).toMatchObject({ outcome: 'failed', error: { name: 'SyntaxError', line } });
    expect(failed?.stderr.text).toMatch(new RegExp(`\\n    at cell-${failed?.run}:${line}:\\d+\\n$`));
  });

  it('of code that the run itself evaluates are attributed to the run', async () => {
    const [failed] = await runAll(await opened(), ['1;\nnew Function("let b c")']);
    expect(failed?.error).toMatchObject({ name: 'SyntaxError', line: 2 });
  });
});

describe('values', () => {
  const opened = sharedSession(open);

  it.each([
    ['[, 1]', '[ <1 empty item>, 1 ]'],
    ['({ a: undefined })', '{ a: undefined }'],
    ['-0', '-0'],
    ['[-0]', '[ -0 ]'],
    ['({ ["__proto__"]: 1 })', "{ ['__proto__']: 1 }"],
    ['Object.assign([1], { more: 2 })', '[ 1, more: 2 ]'],
    ['({ toJSON: () => 1 })', '{ toJSON: [Function: toJSON] }'],
    ['({ when: new Date(0) })', '{ when: 1970-01-01T00:00:00.000Z }'],
  ])('that JSON would change are shown as text: %s', async (code, text) => {
    const [run] = await runAll(await opened(), [code]);
    expect(run).not.toHaveProperty('value');
    expect(run).toMatchObject({ outcome: 'succeeded', results: [{ data: { 'text/plain': text } }], diagnostics: [] });
  });

  it.each([
    '[]',
    '{}',
    '[0, 1.5, -1e-7, 1e300, true, null, "a\\"\\n\\ud800"]',
    '{ "a b": { "c": [[{ }]] }, "2": 3, "1": "" }',
  ])('that JSON represents completely are values: %s', async (code) => {
    const [run] = await runAll(await opened(), [`(${code})`]);
    expect(run).toMatchObject({ outcome: 'succeeded', results: [], diagnostics: [] });
    expect(run?.value).toEqual(JSON.parse(code));
  });
});

describe('a program', () => {
  const opened = sharedSession(open);

  it('that interrupts its process group leaves the interpreter alive', async () => {
    const code = "require('node:child_process').spawnSync('sh', ['-c', 'kill -INT 0']).signal";
    const [interrupted, after] = await runAll(await opened(), [code, '1 + 1']);
    expect(interrupted).toMatchObject({ outcome: 'succeeded', value: 'SIGINT', state: 'kept' });
    expect(after).toMatchObject({ value: 2, epoch: interrupted?.epoch });
  });

  it('that the code waits for synchronously ends with the run', async () => {
    const session = await opened();
    const waiting = 'require("node:child_process").execSync("sleep 300; true")';
    const stopped = await session.run(`const kept = 1; ${waiting}`, { timeoutMs: 500 });
    expect(stopped).toMatchObject({ outcome: 'timeout', state: 'kept' });
    expect(await session.run('1')).toMatchObject({ value: 1, epoch: stopped.epoch });
  });
});
