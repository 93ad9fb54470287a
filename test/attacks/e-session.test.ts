import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Session, SessionOptions, SessionRun } from '../../src/contracts/jobs/session.ts';
import { SkillcellError } from '../../src/contracts/errors/skillcell-error.ts';
import { startQuietClock } from '../fixtures/quiet-clock.ts';
import { toolList } from '../fixtures/tool-list.ts';
import { BROKEN_MESSAGES, RAW } from './raw-program.ts';
import { attack, EVERY_LEVEL, levelsInTurn, type Scene } from './surroundings.ts';

/** The number of the attacking run; the run before it defines a name. */
const ATTACKING = 2;
/** A report of that run, in JSON. */
const REPORT = `"type":"cell","run":${ATTACKING}`;
/** The beginning of a message that shows a result of the second run. */
const SHOWN = '"type":"shown","run":2';

interface Attacked {
  session: Session;
  /** The attacking run. */
  run: SessionRun;
  /** Calls that reached the host's tool. */
  calls: number;
}

/** Runs an attack in a session that has defined a name, beside another such session. */
async function attacked(scene: Scene, code: string, options: SessionOptions = {}): Promise<Attacked> {
  let calls = 0;
  const tools = toolList([
    ['echo', { description: 'Gives back what it gets.', execute: async (input) => ((calls += 1), input ?? null) }],
  ]);
  const own = scene.ownOrchestrator({ tools });
  const limits = { runTimeoutMs: 6_000, graceMs: 300, ...options.limits };
  const given: SessionOptions = { language: 'python', isolation: scene.level, tools: ['*'], ...options, limits };
  const [session, beside] = await Promise.all([own.session(given), own.session(given)]);
  for (const each of [session, beside]) await each.run('kept = 41');
  const run = await session.run(`${RAW}${code}`);
  expect((await beside.run('kept')).value).toBe(41);
  await beside.close();
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  scene.onSafety(({ grownMib }) => expect(grownMib).toBeLessThan(64));
  return { session, run, calls };
}

/** The state that the next run finds must match the previous run's report. */
async function expectTrue({ session, run }: Attacked): Promise<void> {
  const next = await session.run('globals().get("kept")');
  expect(next).toMatchObject({ outcome: 'succeeded', epoch: run.state === 'kept' ? run.epoch : run.epoch + 1 });
  expect(next.value).toBe(run.state === 'kept' ? 41 : undefined);
  expect((await session.close()).outcome).toBe('succeeded');
}

attack('E-control', 'reports a run of a session with its own frame', { levels: EVERY_LEVEL }, async (scene) => {
  const code = `def show(data, forms):
    raw(struct.pack('<I', 4 + len(data) | 1 << 24) + struct.pack('<I', 0) + data)
    frame(b'{${SHOWN},"forms":' + forms + b'}')
show(b'hello', b'[["text/plain",5]]')
show(b'\\x89Px', b'[["image/png",2],["text/html",1]]')
frame(b'{${REPORT},"json":"{\\\\"forged\\\\":1}"}')`;
  const given = await attacked(scene, code);
  expect(given.run).toMatchObject({ outcome: 'succeeded', state: 'kept', value: { forged: 1 } });
  expect(given.run.results.map(({ data }) => data)).toEqual([
    { 'text/plain': 'hello' },
    { 'image/png': new Uint8Array([0x89, 0x50]), 'text/html': 'x' },
  ]);
  await expectTrue(given);
  scene.evidence('a report by hand is believed, with its value and its results');
});

for (const [index, [id, what, code]] of BROKEN_MESSAGES.entries()) {
  attack(id, `sends its session ${what}`, { levels: levelsInTurn(index) }, async (scene) => {
    const elapsedMs = startQuietClock();
    const given = await attacked(scene, code);
    expect(given.run).toMatchObject({ outcome: 'failed', state: 'lost', epoch: 1 });
    expect(elapsedMs()).toBeLessThan(5_000);
    expect(given.calls).toBe(0);
    await expectTrue(given);
    scene.evidence(
      `the run failed, ${given.run.signal ?? `exit code ${given.run.exitCode}`}; the next one begins epoch 2`,
    );
  });
}

/** Malformed reports: threat, words, the report. */
const BROKEN_REPORTS: [string, string, string][] = [
  ['E03', 'with a __proto__ key', `b'{${REPORT},"__proto__":{"polluted":1}}'`],
  ['E03', 'with a constructor.prototype', `b'{${REPORT},"error":{"constructor":{"prototype":{"polluted":1}}}}'`],
  ['E09', 'of 200,000 levels', `b'{${REPORT},"error":' + b'[' * 200000 + b']' * 200000 + b'}'`],
  ['E09', 'of 300,000 values', `b'{${REPORT},"results":[' + b'0,' * 300000 + b'0]}'`],
];

for (const [index, [id, what, report]] of BROKEN_REPORTS.entries()) {
  attack(id, `sends its session a report ${what}, which loses it`, { levels: levelsInTurn(index) }, async (scene) => {
    const given = await attacked(scene, `frame(${report})\ntime.sleep(10)`);
    expect(given.run).toMatchObject({ outcome: 'failed', state: 'lost' });
    expect(given.run).not.toHaveProperty('value');
    await expectTrue(given);
    scene.evidence('the interpreter was ended; the next run begins epoch 2');
  });
}

/** Reports that are accepted without their faulty parts: words, the report, the diagnostic. */
const DOUBTFUL: [string, string, string, string][] = [
  ['E01', 'announces 1 TiB of results', `b'{${SHOWN},"forms":[["image/png",1099511627776]]}'`, 'result.omitted'],
  ['E01', 'announces results that do not come', `b'{${SHOWN},"forms":[["image/png",5]]}'`, 'result.omitted'],
  [
    'E01',
    'announces 10,000 forms of a result',
    `b'{${SHOWN},"forms":[' + b'["a/b",0],' * 9999 + b'["a/b",0]]}'`,
    'result.omitted',
  ],
  ['E03', 'names a form __proto__', `b'{${SHOWN},"forms":[["__proto__",0]]}'`, 'result.omitted'],
  ['E04', 'names a form with a line break', `b'{${SHOWN},"forms":[["text/html\\\\n",0]]}'`, 'result.omitted'],
  ['E05', 'announces a negative number of bytes', `b'{${SHOWN},"forms":[["a/b",-1]]}'`, 'result.omitted'],
  [
    'E09',
    'has a value of 200,000 levels',
    `b'{${REPORT},"json":"' + b'[' * 200000 + b']' * 200000 + b'"}'`,
    'value.invalid',
  ],
  [
    'E03',
    'has a value that reaches a prototype',
    `b'{${REPORT},"json":"{\\\\"__proto__\\\\":{\\\\"polluted\\\\":1}}"}'`,
    'value.invalid',
  ],
  ['E02', 'has a value that is not a text', `b'{${REPORT},"json":{"a":1}}'`, 'value.invalid'],
];

for (const [index, [id, what, report, code]] of DOUBTFUL.entries()) {
  attack(id, `${what} in a report of its session`, { levels: levelsInTurn(index) }, async (scene) => {
    const given = await attacked(scene, `frame(${report})`);
    expect(given.run).toMatchObject({ outcome: 'succeeded', state: 'kept', results: [] });
    expect(given.run).not.toHaveProperty('value');
    expect(given.run.diagnostics.map((row) => row.code)).toEqual([code]);
    await expectTrue(given);
    scene.evidence(`left out, with ${code}`);
  });
}

attack(
  'E05',
  'reports other runs of its session, its own twice, and goes on',
  { levels: EVERY_LEVEL },
  async (scene) => {
    const other = (run: string): string => `frame(b'{"type":"cell","run":${run},"json":"666"}')\n`;
    const code = `${['0', '1', '3', '4', '"2"', '-2', '2.5', '1e999', '{}'].map(other).join('')}print('own', flush=True)\n'own'`;
    const given = await attacked(scene, code);
    expect(given.run).toMatchObject({ outcome: 'succeeded', value: 'own', stdout: { text: 'own\n' } });
    expect((await given.session.run('"third"')).value).toBe('third');
    const twice = await given.session.run(
      `frame(b'{"type":"cell","run":4,"json":"1"}')\nframe(b'{"type":"cell","run":4,"json":"2"}')\n3`,
    );
    expect(twice.value).toBe(1);
    await expectTrue(given);
    scene.evidence('only the first report of the run under way counted');
  },
);

attack('E05', 'reports a run of its session and goes on running', { levels: EVERY_LEVEL }, async (scene) => {
  const given = await attacked(scene, `frame(b'{${REPORT}}')\nwhile True: pass`);
  expect(given.run).toMatchObject({ outcome: 'succeeded', state: 'kept' });
  const { session } = given;
  // The report is the only information; a later run finds the real state of the interpreter.
  const next = await session.run('globals().get("kept")', { timeoutMs: 1_000 });
  expect(next.outcome).toBe('timeout');
  const after = await session.run('globals().get("kept")');
  expect(after.value).toBe(next.state === 'kept' ? 41 : undefined);
  expect(after.epoch).toBe(next.state === 'kept' ? 1 : 2);
  await session.close();
  scene.evidence(`the next run timed out, and reported the state ${next.state}`);
});

attack('E06', 'names another session in its frames, and keeps its identity', { levels: EVERY_LEVEL }, async (scene) => {
  const given = await attacked(
    scene,
    `frame(b'{${REPORT},"sessionId":"other","jobId":"other","epoch":7,"state":"lost"}')`,
  );
  expect(given.run).toMatchObject({ outcome: 'succeeded', state: 'kept', epoch: 1 });
  await expectTrue(given);
  scene.evidence('other names, epochs and states in a report change nothing');
});

attack('E07', 'prints forged reports of its session', { levels: EVERY_LEVEL }, async (scene) => {
  const text = `{${REPORT},"json":"666"}`;
  const given = await attacked(scene, `print('${text}')\nprint('${text}', file=sys.stderr)\n'own'`);
  expect(given.run).toMatchObject({ value: 'own', stdout: { text: `${text}\n` }, stderr: { text: `${text}\n` } });
  await expectTrue(given);
  scene.evidence('printed frames are output');
});

attack('E10', 'sends its session 1 GiB of results', { levels: EVERY_LEVEL }, async (scene) => {
  const code = `piece = b'x' * 262144\nfor _ in range(4096): raw(struct.pack('<I', len(piece) + 4 | 1 << 24) + struct.pack('<I', 0) + piece)\n1`;
  const given = await attacked(scene, code, { limits: { runTimeoutMs: 60_000 } });
  expect(given.run).toMatchObject({ outcome: 'succeeded', state: 'kept', value: 1, results: [] });
  expect(given.run.diagnostics.map((row) => row.code)).toEqual(['result.omitted']);
  await expectTrue(given);
  scene.onSafety(({ grownMib }) => scene.evidence(`left out; the host grew by ${Math.round(grownMib)} MiB`));
});

attack('E10', 'floods its session with reports of other runs', { levels: EVERY_LEVEL }, async (scene) => {
  const given = await attacked(
    scene,
    `for number in range(20000): frame(b'{"type":"cell","run":0,"json":"1"}')\n'own'`,
    {
      limits: { runTimeoutMs: 60_000 },
    },
  );
  expect(given.run).toMatchObject({ outcome: 'succeeded', value: 'own' });
  await expectTrue(given);
  scene.evidence('20,000 were passed over');
});

attack('E10', 'begins a report of its session and never ends it', { levels: EVERY_LEVEL }, async (scene) => {
  const given = await attacked(scene, `raw(struct.pack('<I', 1000) + b' ')\ntime.sleep(60)`, {
    limits: { runTimeoutMs: 1_000 },
  });
  expect(given.run).toMatchObject({ outcome: 'timeout', state: 'lost' });
  await expectTrue(given);
  scene.evidence('its time was over, and it was ended: later frames are no reports');
});

attack('E11', 'makes calls between and during the runs of its session', { levels: EVERY_LEVEL }, async (scene) => {
  const control = await attacked(scene, `call(1, args=1)\nprint(reply()['value'])`);
  expect([control.run.stdout.text, control.calls]).toEqual(['1\n', 1]);
  await control.session.close();
  const code = `import threading
def later():
    for number in range(2, 200):
        call(number)
        time.sleep(0.01)
threading.Thread(target=later, daemon=True).start()
frame(b'{${REPORT}}')
time.sleep(3)`;
  const given = await attacked(scene, code);
  const { session } = given;
  const calls = given.run.calls.length;
  const next = await session.run('1', { timeoutMs: 20_000 });
  // Calls of the background during the next run count as calls of that run.
  for (const { ok, code: told } of given.run.calls)
    expect(ok ? undefined : told).toBe(ok ? undefined : 'tool.job-over');
  const job = await session.close();
  expect(job.callTotals['echo']?.calls ?? 0).toBe(
    [...given.run.calls, ...next.calls].filter(({ name }) => name === 'echo').length,
  );
  expect(job.outcome).toBe('succeeded');
  scene.evidence(
    `${calls} of 198 belonged to the run; those between runs were answered with tool.job-over and never made`,
  );
});

/** A file of the sandbox's system that exists at all levels, and its beginning. */
const OUTSIDE = { path: '/usr/lib/os-release', begins: 'PRETTY_NAME' };

attack('E12', 'uses file paths that lead out of its session', { levels: EVERY_LEVEL }, async (scene) => {
  const given = await attacked(
    scene,
    `os.symlink('${OUTSIDE.path}', 'link')
os.symlink('/usr/lib', 'folder')
os.symlink('.', 'here')
os.mkfifo('fifo')
os.mkdir('real')
os.symlink('${OUTSIDE.path}', 'real/link')
open('real/own', 'w').write('own')
open('link').read()[:11], open('folder/os-release').read()[:11]`,
  );
  // The links have targets: the program's own reads follow them.
  expect(given.run.value).toEqual([OUTSIDE.begins, OUTSIDE.begins]);
  const { files } = given.session;
  const codeOf = (step: Promise<unknown>): Promise<unknown> =>
    step.then(
      () => 'done',
      (error: unknown) => SkillcellError.isInstance(error) && error.code,
    );
  expect(await files.read('real/own', 'utf8')).toBe('own');
  for (const path of [
    '../x',
    '/etc/passwd',
    'real/../../x',
    './real/own',
    'real//own',
    'a\0b',
    '..',
    '',
    'C:\\x\\..',
  ]) {
    const told = path === 'C:\\x\\..' ? ['file.unreadable', 'job.invalid'] : ['job.invalid'];
    for (const step of [files.read(path), files.write(path, 'x'), files.delete(path)])
      expect(told, path).toContain(await codeOf(step).then((code) => (code === 'done' ? 'file.unreadable' : code)));
  }
  for (const path of ['link', 'folder/os-release', 'here/real/own', 'fifo', 'real/link', 'real', 'gone'])
    expect([path, await codeOf(files.read(path))]).toEqual([path, 'file.unreadable']);
  for (const path of ['link', 'folder/new', 'here/new', 'fifo', 'real/link', 'real', 'real/own/below'])
    expect([path, await codeOf(files.write(path, 'x'))]).toEqual([path, 'file.unreadable']);
  const { archive, omitted } = await given.session.export();
  expect(omitted.map(({ path }) => path).toSorted()).toEqual(['fifo', 'folder', 'here', 'link', 'real/link']);
  expect(archive.toString('latin1')).not.toContain(OUTSIDE.begins);
  await expectTrue(given);
  scene.evidence('refused by form, or because no link is followed; an export leaves links and fifos out');
});

attack('D16', 'swaps a file of its session and a link while it is read', { levels: EVERY_LEVEL }, async (scene) => {
  const given = await attacked(
    scene,
    `import subprocess
loop = "import os\\nos.symlink('${OUTSIDE.path}', 'bait')\\nopen('plain', 'w').write('own')\\nwhile True:\\n  os.link('plain', 'next'); os.rename('next', 'swapped')\\n  os.link('bait', 'next', follow_symlinks=False); os.rename('next', 'swapped')"
swapper = subprocess.Popen(['/usr/bin/python3', '-c', loop])
while not os.path.exists('swapped'): time.sleep(0.01)
seen = set()
while len(seen) < 2:
    try: seen.add(open('swapped').read()[:3])
    except OSError: pass
sorted(seen)`,
  );
  expect(given.run.value).toEqual([OUTSIDE.begins.slice(0, 3), 'own']);
  const told = new Set<string>();
  for (let round = 0; round < 300; round += 1)
    told.add(
      await given.session.files.read('swapped', 'utf8').catch((error: unknown) => {
        expect(SkillcellError.isInstance(error) && error.code).toBe('file.unreadable');
        return 'refused';
      }),
    );
  expect([...told].filter((text) => text !== 'refused')).toEqual(['own']);
  await expectTrue(given);
  scene.evidence(`300 reads came to ${[...told].join(' or ')}`);
});

attack('D20', 'has links in a deleted folder of its session', { levels: EVERY_LEVEL }, async (scene) => {
  const given = await attacked(
    scene,
    `import shutil, tempfile
outside = tempfile.mkdtemp()
open(outside + '/file', 'w').write('still there')
os.makedirs('tree/deep')
os.symlink(outside, 'tree/deep/link')
os.symlink(outside, 'alone')
True`,
  );
  const { session } = given;
  await session.files.delete('tree');
  await session.files.delete('alone');
  expect((await session.files.list()).filter(({ path }) => /^(?:tree|alone)/.test(path))).toEqual([]);
  expect((await session.run("open(outside + '/file').read()")).value).toBe('still there');
  await session.run('shutil.rmtree(outside)');
  await expectTrue(given);
  scene.evidence('the links are gone, and their targets are not');
});

attack(
  'E15',
  'kills and impersonates the process that reads the files of its session',
  { levels: EVERY_LEVEL },
  async (scene) => {
    const secret = join(scene.folder, 'secret');
    writeFileSync(secret, 'of the host');
    const given = await attacked(scene, `open('own', 'w').write('own')\n1`);
    const { session } = given;
    expect(await session.files.read('own', 'utf8')).toBe('own');
    // At level none there are such processes of other sandboxes, distinguished by a mark in their environment.
    const find = `import glob, signal
def content(pid, file): return open(f'/proc/{pid}/{file}', 'rb').read()
def mark(pid): return [row for row in content(pid, 'environ').split(b'\\0') if row.startswith(b'SKILLCELL_JOB_MARK=')]
def keepers():
    found = []
    for pid in map(int, (path.split('/')[2] for path in glob.glob('/proc/[0-9]*'))):
        try:
            if b'session-files' in content(pid, 'cmdline') and mark(pid) == mark('self'): found.append(pid)
        except OSError: pass
    return found
`;
    const found = await session.run(`${find}\nlen(keepers())`);
    if (scene.level === 'namespace') {
      expect(found.value).toBe(0);
      await expectTrue(given);
      return scene.evidence('it is in another pid namespace than each interpreter');
    }
    expect(found.value).toBeGreaterThan(0);
    const forged = await session.run(`answers = 0
for keeper in keepers():
    try:
        pipe = os.open(f'/proc/{keeper}/fd/4', os.O_WRONLY)
        for number in range(0, 40):
            body = json.dumps({'type': 'file', 'id': number}).encode()
            os.write(pipe, struct.pack('<I', len(body)) + body)
            answers += 1
        os.write(pipe, b'\\xff' * 4096)
    except OSError: pass
answers`);
    expect(forged.state).toBe('kept');
    const codeOf = (error: unknown): unknown => SkillcellError.isInstance(error) && error.code;
    // The answer may be any possible content of its own file, but neither an end of the session nor the file of another one.
    const told = await session.files.read('own', 'utf8').catch(codeOf);
    expect(['own', '', 'file.unreadable']).toContain(told);
    await session.run('for keeper in keepers(): os.kill(keeper, signal.SIGKILL)');
    await session.files.read('own', 'utf8').catch((error: unknown) => expect(codeOf(error)).toBe('file.unreadable'));
    expect(await session.files.read('own', 'utf8')).toBe('own');
    expect(readFileSync(secret, 'utf8')).toBe('of the host');
    await expectTrue(given);
    scene.evidence(
      `${String(forged.value)} forged answers resulted in ${JSON.stringify(told)}; a killed one is started anew`,
    );
  },
);

attack('C01', 'prints 1 GiB in a run of its session', { levels: EVERY_LEVEL, timeoutMs: 240_000 }, async (scene) => {
  const given = await attacked(scene, `line = b'x' * 1048576\nfor _ in range(1024): os.write(1, line)`, {
    limits: { runTimeoutMs: 120_000 },
  });
  expect(given.run).toMatchObject({ outcome: 'limit', limit: 'output', state: 'lost' });
  expect(given.run.stdout.bytes).toBeGreaterThanOrEqual(256 * 1024 * 1024);
  await expectTrue(given);
  scene.evidence(`ended after ${given.run.stdout.bytes} bytes`);
});
