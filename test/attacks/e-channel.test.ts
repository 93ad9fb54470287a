import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Tool } from '../../src/tools/define/tool.ts';
import { ToolError } from '../../src/tools/define/tool-errors.ts';
import type { ExecOptions } from '../../src/contracts/jobs/job.ts';
import type { JobResult } from '../../src/contracts/jobs/result.ts';
import { currentOwner, ownerName } from '../../src/durable/owner.ts';
import { sandboxProcesses } from './leftovers.ts';
import { plainly } from './plainly.ts';
import { BROKEN_MESSAGES, PARTS, RAW } from './raw-program.ts';
import { attack, EVERY_LEVEL, levelsInTurn, type Scene } from './surroundings.ts';
import { toolList } from '../fixtures/tool-list.ts';
import { until } from '../fixtures/until.ts';

const MIB = 1024 * 1024;

interface Calls {
  count: number;
  seen: unknown[];
  active: number;
  most: number;
}

function toolbox(calls: Calls): Tool[] {
  return toolList([
    [
      'echo',
      {
        description: 'Gives back its arguments.',
        async execute(args) {
          calls.count += 1;
          calls.active += 1;
          calls.most = Math.max(calls.most, calls.active);
          if (calls.seen.length < 100) calls.seen.push(args);
          await pause(1);
          calls.active -= 1;
          return args ?? null;
        },
      },
    ],
  ]);
}

/** A job with tools, and the arrivals of its calls on the host. */
function withTools(scene: Scene): {
  run: (job: Partial<ExecOptions> & { code: string }) => Promise<JobResult>;
  calls: Calls;
} {
  const calls: Calls = { count: 0, seen: [], active: 0, most: 0 };
  const own = scene.ownOrchestrator({ tools: toolbox(calls) });
  const run = (job: Partial<ExecOptions> & { code: string }): Promise<JobResult> =>
    own.exec({
      language: 'python',
      isolation: scene.level,
      tools: ['*'],
      ...job,
      limits: { runTimeoutMs: 15_000, graceMs: 300, ...job.limits },
    });
  return { run, calls };
}

attack(
  'E-control',
  'calls a tool by raw frames, which shows that the frames below arrive',
  { levels: EVERY_LEVEL },
  async (scene) => {
    const { run, calls } = withTools(scene);
    const result = await run({
      code: `${RAW}\ncall(1, args={'a': [1, 2]})\nprint(json.dumps(reply()), flush=True)\nos._exit(6)`,
    });
    expect(result).toMatchObject({ outcome: 'failed', exitCode: 6, calls: [{ id: 1, name: 'echo', ok: true }] });
    expect(JSON.parse(result.stdout.text)).toMatchObject({ kind: 2, id: 1, ok: true, value: { a: [1, 2] } });
    expect(calls.seen).toEqual([{ a: [1, 2] }]);
    scene.evidence('a call by hand is answered');
  },
);

for (const [index, [id, what, code]] of BROKEN_MESSAGES.entries()) {
  attack(id, `sends its entry ${what}`, { levels: levelsInTurn(index) }, async (scene) => {
    const { run, calls } = withTools(scene);
    const result = await run({ code: RAW + code, limits: { runTimeoutMs: 60_000 } });
    // A broken message ends the run, long before its deadline, as a failure of the program and not of the host.
    expect(result.outcome, JSON.stringify([result.usage, result.diagnostics])).toBe('failed');
    expect(calls.count).toBe(0);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    scene.onSafety(({ grownMib }) => expect(grownMib).toBeLessThan(64));
    scene.evidence(
      `failed after ${Math.round(result.usage.wallMs ?? 0)} ms, exit code ${result.exitCode}, signal ${result.signal}`,
    );
  });
}

attack('E-control', 'sends bytes with a call by raw frames', { levels: EVERY_LEVEL }, async (scene) => {
  const { run, calls } = withTools(scene);
  const code = `${PARTS}\nannounce(1, (['a'], 5, 7), args={'a': None})\npart(7, b'he')\npart(7, b'llo')\nprint(json.dumps(reply()['bytes'][0]['bytes']))`;
  expect(await run({ code })).toMatchObject({ outcome: 'succeeded', stdout: { text: '5\n' } });
  expect(calls.seen).toEqual([{ a: Buffer.from('hello') }]);
  scene.evidence('five bytes arrive and come back');
});

/** Arguments that only the host parses: it refuses the call, and the program continues. */
const UNREADABLE: [string, string, string][] = [
  ['E02', 'that are not JSON', "b'not json'"],
  ['E02', 'that end early', 'b\'{"a":\''],
  ['E02', 'with another text behind them', 'b\'1,"target":"model"\''],
  ['E02', 'that are not UTF-8', 'b\'"\\xff\\xfe"\''],
  ['E02', 'with a byte order mark', "b'\\xef\\xbb\\xbf1'"],
  ['E03', 'with a __proto__ key', 'b\'{"__proto__":{"polluted":1}}\''],
  ['E03', 'with an escaped __proto__ key', 'b\'{"\\\\u005f\\\\u005fproto__":{"polluted":1}}\''],
  ['E03', 'with a constructor.prototype', 'b\'{"constructor":{"prototype":{"polluted":1}}}\''],
  ['E05', 'with a number that is too large', "b'1e999'"],
  ['E09', 'of 200,000 levels', "b'[' * 200000 + b']' * 200000"],
  ['E09', 'of 300,000 values', "b'[' + b'0,' * 300000 + b'0]'"],
];

for (const [index, [id, what, args]] of UNREADABLE.entries()) {
  attack(
    id,
    `calls with arguments ${what}, which fails only that call`,
    { levels: levelsInTurn(index) },
    async (scene) => {
      const { run, calls } = withTools(scene);
      const code = `${RAW}\nframe(packed(1, ${args}))\nprint(reply()['error']['code'])\ncall(2, args='after')\nprint(reply()['value'])`;
      const result = await run({ code });
      expect(result.stdout.text).toMatch(/^tool\.(invalid-arguments|too-large)\nafter\n$/);
      expect(calls.seen).toEqual(['after']);
      expect(({} as { polluted?: number }).polluted).toBeUndefined();
      scene.onSafety(({ grownMib, loopDelayMs }) => {
        expect(grownMib).toBeLessThan(64);
        expect(loopDelayMs).toBeLessThan(250);
      });
      scene.evidence(`${result.stdout.text.split('\n')[0]}; the next call is answered`);
    },
  );
}

const BROKEN_BYTES: [string, string, string][] = [
  ['E05', 'bytes that no call has announced', "part(7, b'x')"],
  ['E01', 'more bytes than a call has announced', "announce(1, ([], 2, 7))\npart(7, b'xxx')"],
  ['E01', 'a frame of bytes over the maximum', "announce(1, ([], 1 << 20, 7))\npart(7, b'x' * (1 << 19))"],
  ['E01', '64 MiB of bytes in one call', 'announce(1, ([], 64 << 20, 7))'],
  ['E05', 'a number of bytes that are still to come', 'announce(1, ([], 2, 7))\nannounce(2, ([], 2, 7))'],
  ['E05', 'one number for two parts', 'announce(1, ([0], 2, 7), ([1], 2, 7), args=[None, None])'],
  ['E02', 'an answer', "frame(struct.pack('<BIBI', 2, 1, 1, 0) + b'1')"],
  ['E02', 'places that are not JSON', "frame(packed(1, places=b'['))"],
  ['E03', 'places with a prototype', 'frame(packed(1, places=b\'[{"path":[],"bytes":1,"stream":1,"__proto__":{}}]\'))'],
];

for (const [index, [id, what, code]] of BROKEN_BYTES.entries()) {
  attack(id, `sends its entry ${what}, which fails its run`, { levels: levelsInTurn(index) }, async (scene) => {
    const { run, calls } = withTools(scene);
    const result = await run({ code: `${PARTS}${code}\ntime.sleep(60)`, limits: { runTimeoutMs: 50_000 } });
    expect(result.outcome).toBe('failed');
    expect(calls.count).toBe(0);
    scene.onSafety(({ grownMib }) => expect(grownMib).toBeLessThan(64));
    scene.evidence(`failed, exit code ${result.exitCode}, signal ${result.signal}`);
  });
}

attack('E03', 'announces bytes for places that do not exist', { levels: EVERY_LEVEL }, async (scene) => {
  const { run, calls } = withTools(scene);
  const code = `${PARTS}
for number, path in enumerate((['__proto__'], ['constructor', 'prototype', 'a'], ['a', 'b'], ['l', 'length'], [0]), 1):
    announce(number, (path, 1, number), args={'a': 1, 'l': [None]})
    part(number, b'x')
    print(reply()['error']['code'])`;
  const result = await run({ code });
  expect(result.stdout.text).toBe('tool.invalid-arguments\n'.repeat(5));
  expect([calls.count, Object.keys(Object.prototype)]).toEqual([0, []]);
  scene.evidence('five missing places were refused');
});

attack('E11', 'announces bytes that never come, and ends', { levels: EVERY_LEVEL }, async (scene) => {
  const { run, calls } = withTools(scene);
  const code = `${PARTS}\nfor number in range(1, 1001): announce(number, ([], 1, number))\nos._exit(0)`;
  const stuck = code
    .replace('range(1, 1001)', 'range(1, 60)')
    .replace('os._exit(0)', "part(1, b'x')\nreply()\nos._exit(0)");
  expect((await run({ code: stuck })).outcome).toBe('succeeded');
  expect(calls.count).toBe(1);
  // The entry accepts 64 of them; whether the others fit into the pipe determines the outcome.
  expect(['succeeded', 'timeout']).toContain((await run({ code, limits: { runTimeoutMs: 2_000 } })).outcome);
  expect(calls.count).toBe(1);
  scene.onSafety(({ grownMib }) => expect(grownMib).toBeLessThan(64));
  scene.evidence('only the call whose byte arrived was made');
});

attack('E04', 'calls members of a prototype, or unknown tools', { levels: EVERY_LEVEL }, async (scene) => {
  const { run, calls } = withTools(scene);
  const names = [
    'constructor',
    'toString',
    '__proto__',
    'hasOwnProperty',
    '../../admin',
    'echo\\u0000',
    'ECHO',
    'echo ',
    '',
    'x'.repeat(5_000),
  ];
  const code = `${RAW}\nnames = json.loads(sys.argv[1])\nfor number, name in enumerate(names, 1):\n    call(number, name, {})\n    print(json.dumps(reply()['ok']))\ncall(50, 'complete', {}, 'model')\nprint(reply()['ok'])\ncall(51, 'judge', {}, 'host')\nprint(reply()['ok'])\ncall(60, 'echo', 'still served')\nprint(reply()['value'])`;
  const result = await run({ code, args: [JSON.stringify(names)] });
  expect(result.stdout.text).toBe(`${'false\n'.repeat(names.length)}${'False\n'.repeat(2)}still served\n`);
  expect(calls.seen).toEqual(['still served']);
  scene.evidence(`${names.length + 2} refused, the one after them was answered`);
});

attack(
  'E05',
  'replays ids, uses invalid ids, and answers calls that were never made',
  { levels: EVERY_LEVEL },
  async (scene) => {
    const { run, calls } = withTools(scene);
    const ids = [7, 7, 6, 0, 1, 7];
    const code = `${RAW}
for number in json.loads(sys.argv[1]):
    frame(packed(number, b'1'))
    answer = reply()
    print(answer['ok'], flush=True)
call(8)
print(reply()['ok'], flush=True)
os._exit(4)`;
    const result = await run({ code, args: [JSON.stringify(ids)] });
    expect(result.stdout.text).toBe(`True\n${'False\n'.repeat(ids.length - 1)}True\n`);
    expect(result).toMatchObject({ outcome: 'failed', exitCode: 4 });
    expect(calls.count).toBe(2);
    expect(result.calls.length).toBe(2);
    scene.evidence('two of seven calls reached the host');
  },
);

attack(
  'E05',
  'answers the entry with messages that only the entry sends, which changes nothing',
  { levels: EVERY_LEVEL },
  async (scene) => {
    const { run } = withTools(scene);
    const code = `${RAW}\nframe({'type': 'waiting'})\nframe({'type': 'rehearsed'})\nframe({'type': 'waiting'})\ncall(1, args=1)\nprint(reply()['value'])\nraise SystemExit(3)`;
    expect(await run({ code })).toMatchObject({ outcome: 'failed', exitCode: 3, stdout: { text: '1\n' } });
    scene.evidence('exit code 3 as the program said');
  },
);

attack('E06', 'names another job in its calls, and keeps its identity', { levels: EVERY_LEVEL }, async (scene) => {
  const jobs: string[] = [];
  const tools = toolList([
    [
      'who',
      { description: 'Says who calls.', execute: (_args, { jobId }) => (jobs.push(jobId), Promise.resolve(jobId)) },
    ],
  ]);
  const own = scene.ownOrchestrator({ tools });
  const code = `${RAW}\ncall(1, 'who', {'jobId': 'victim', 'job': 'victim', 'tenant': 'victim'})\nprint(reply()['value'])`;
  const result = await own.exec({
    tools: ['*'],
    language: 'python',
    isolation: scene.level,
    jobId: 'attacker',
    code,
    env: { EXECUTION_ID: 'victim', SKILLCELL_JOB_MARK: 'victim' },
  });
  expect(result).toMatchObject({ jobId: 'attacker', stdout: { text: 'attacker\n' } });
  expect(jobs).toEqual(['attacker']);
  scene.evidence('the tool was told "attacker"');
});

attack('E07', 'prints its own results and frames', { levels: EVERY_LEVEL }, async ({ job, evidence }) => {
  const code = `
import json, os, struct, sys
body = json.dumps({'type': 'result', 'result': {'outcome': 'succeeded', 'exitCode': 0}}).encode()
for stream in (1, 2):
    os.write(stream, struct.pack('<IBBH', len(body), 1, 0, 0) + body)
    os.write(stream, struct.pack('<I', len(body)) + body)
    os.write(stream, b'{"type":"exit","code":0}\\n')
os._exit(11)`;
  const result = await job({ code });
  expect(result).toMatchObject({ outcome: 'failed', exitCode: 11 });
  expect(result.stdout.text).toContain('"outcome": "succeeded"');
  evidence('its printed frames are output; exit code 11 stands');
});

attack(
  'E08',
  'opens neither the entry’s channel nor any other descriptor of the entry',
  { levels: ['namespace'] },
  async ({ job, evidence }) => {
    const code = `
import os, sys
found = []
for pid in sys.argv[1:] or os.listdir('/proc'):
    if not pid.isdigit(): continue
    for name in os.listdir(f'/proc/{pid}/fd'):
        try: target = os.readlink(f'/proc/{pid}/fd/{name}')
        except OSError: continue
        found.append(target)
        if target.startswith('socket:'): print('a socket', pid, name)
print(sorted(set(target.split(':')[0] for target in found)))`;
    // Plainly, the descriptors of this test's own process are visible.
    expect((await plainly('python', code, { args: [`${process.pid}`] })).stdout).toContain('a socket');
    const result = await job({ code });
    expect(result.stdout.text).not.toContain('a socket');
    evidence(`no socket among the descriptors that it sees: ${result.stdout.text.trim()}`);
  },
);

attack('E09', 'sends arguments that grow when they are serialized again', { levels: EVERY_LEVEL }, async (scene) => {
  const { run, calls } = withTools(scene);
  // Each "1e20," becomes 22 characters: 7 MiB arrive, 30 MiB would be passed on.
  const code = `${RAW}\nframe(packed(1, b'[' + b','.join([b'1e20'] * 190000) + b']'))\nprint(reply()['ok'])\nframe(packed(2, b'"' + b'x' * (8 * 1048576 - 80) + b'"'))\nprint(reply()['ok'])\nframe(packed(3, b'[' * 63 + b']' * 63))\nprint(reply()['ok'])\ncall(4, args='after')\nprint(reply()['value'])`;
  const result = await run({ code });
  expect(result).toMatchObject({ outcome: 'succeeded', exitCode: 0 });
  expect(result.stdout.text).toMatch(/^False\nFalse\n(True|False)\nafter\n$/);
  expect(calls.seen.at(-1)).toBe('after');
  scene.onSafety(({ grownMib }) => expect(grownMib).toBeLessThan(64));
  scene.evidence('30 MiB and 8 MiB of arguments refused, the next call was answered');
});

attack(
  'E10',
  'makes 200,000 calls, of which the host takes its limit',
  { levels: EVERY_LEVEL, timeoutMs: 60_000 },
  async (scene) => {
    const { run, calls } = withTools(scene);
    const code = `${RAW}\nfor number in range(1, 200001): call(number, args=number)\ntime.sleep(10)`;
    const result = await run({ code, limits: { calls: 200 } });
    expect(result).toMatchObject({ outcome: 'limit', limit: 'calls' });
    expect(result.calls.length).toBeLessThanOrEqual(200);
    expect(calls.count).toBeLessThanOrEqual(200);
    expect(calls.count).toBeGreaterThan(16);
    expect(calls.most).toBeLessThanOrEqual(16);
    scene.onSafety(({ grownMib, loopDelayMs }) => {
      expect(grownMib).toBeLessThan(64);
      scene.evidence(
        `${calls.count} of 200,000 made, ${calls.most} at once; grew by ${Math.round(grownMib)} MiB, loop ${Math.round(loopDelayMs)} ms`,
      );
    });
  },
);

attack(
  'E10',
  'makes calls that are refused for ever and reads no answer',
  { levels: EVERY_LEVEL, needs: ['cgroups'] },
  async (scene) => {
    const { run, calls } = withTools(scene);
    // Each costs the entry an answer that waits for its reader.
    const code = `${RAW}\nbatch = b''.join(struct.pack('<I', len(b)) + b for b in [packed(0)] * 1000)\nend = time.monotonic() + 4\ncount = 0\nwhile time.monotonic() < end:\n    raw(batch)\n    count += 1000\nprint(count)`;
    const result = await run({ code, limits: { runTimeoutMs: 6_000, memoryMib: 128, workspaceMib: 32 } });
    expect(result).toMatchObject({ outcome: 'limit', limit: 'calls' });
    expect(calls.count).toBe(0);
    expect(result.usage.maxRssBytes).toBeLessThan(150 * MIB);
    scene.evidence(`limit calls; ${Math.round((result.usage.maxRssBytes ?? 0) / MIB)} MiB at most in the sandbox`);
  },
);

attack(
  'E10',
  'makes calls with large answers and reads none of them',
  { levels: EVERY_LEVEL, needs: ['cgroups'] },
  async (scene) => {
    const large = 'x'.repeat(200_000);
    let count = 0;
    const tools = toolList([
      ['large', { description: 'Gives a lot.', execute: () => ((count += 1), Promise.resolve(large)) }],
    ]);
    const own = scene.ownOrchestrator({ tools });
    const code = `${RAW}\nfor number in range(1, 801): call(number, 'large')\ntime.sleep(60)`;
    const limits = { runTimeoutMs: 30_000, graceMs: 100, memoryMib: 128, workspaceMib: 32 };
    const given = { language: 'python', isolation: scene.level, tools: ['*'] as string[] } as const;
    const stop = new AbortController();
    const running = own.exec({ ...given, code, limits, signal: stop.signal });
    // As many calls as it gets, on a machine of any speed.
    for (let before = -1; before !== count || count === 0;) {
      before = count;
      await pause(1_500);
    }
    const taken = count;
    stop.abort();
    const result = await running;
    expect(result.outcome).toBe('canceled');
    // 160 MB were requested. The entry accepts no more calls once 32 MiB of answers wait, except calls under way.
    const most = Math.ceil((32 * MIB) / large.length) + 64 + 2;
    expect(taken).toBeLessThanOrEqual(most);
    // The limit is not slowness: a program that reads its answers gets more of them.
    const reading = `${RAW}\nfor number in range(1, ${most + 21}):\n    call(number, 'large')\n    assert reply()['ok']`;
    count = 0;
    expect(await own.exec({ ...given, code: reading })).toMatchObject({ outcome: 'succeeded' });
    expect(count).toBe(most + 20);
    scene.onSafety(({ grownMib }) => {
      expect(grownMib).toBeLessThan(128);
      scene.evidence(
        `${taken} of 800 calls taken, more of one that reads; ${Math.round((result.usage.maxRssBytes ?? 0) / MIB)} MiB at most in the sandbox`,
      );
    });
  },
);

attack(
  'E10',
  'makes more calls at once than are taken at once, and its last word is heard',
  { levels: EVERY_LEVEL },
  async (scene) => {
    const { run, calls } = withTools(scene);
    const code = `${RAW}\nfor number in range(1, 301): call(number)\nframe({'type': 'value', 'json': '{"last":"word"}'})\nos._exit(7)`;
    const result = await run({ code });
    expect(result).toMatchObject({ outcome: 'failed', exitCode: 7, value: { last: 'word' } });
    expect(calls.most).toBeLessThanOrEqual(16);
    scene.evidence(`exit code 7 and its value, after ${calls.count} of 300 calls`);
  },
);

attack('E10', 'starts a message and never ends it', { levels: EVERY_LEVEL }, async (scene) => {
  const { run } = withTools(scene);
  const code = `${RAW}\nraw(struct.pack('<I', 1000))\nfor _ in range(900):\n    raw(b' ')\n    time.sleep(0.01)\ntime.sleep(60)`;
  const result = await run({ code, limits: { runTimeoutMs: 1_000 } });
  expect(result.outcome).toBe('timeout');
  scene.evidence(`timeout after ${Math.round(result.usage.wallMs ?? 0)} ms`);
});

attack('E10', 'sends a message a byte at a time, and is understood', { levels: EVERY_LEVEL }, async (scene) => {
  const { run } = withTools(scene);
  const code = `${RAW}\nbody = packed(1, b'"slowly"')\nfor byte in struct.pack('<I', len(body)) + body:\n    raw(bytes([byte]))\n    time.sleep(0.001)\nprint(reply()['value'])`;
  expect(await run({ code })).toMatchObject({ outcome: 'succeeded', stdout: { text: 'slowly\n' } });
  scene.evidence('answered');
});

attack(
  'E11',
  'has its calls ended with the job, and none accepted afterwards',
  { levels: EVERY_LEVEL },
  async (scene) => {
    let begun = 0;
    let aborted = 0;
    const tools = toolList([
      [
        'wait',
        {
          description: 'Waits until the job ends.',
          execute: (_args, { signal }) =>
            new Promise((resolve) => {
              begun += 1;
              signal.addEventListener('abort', () => ((aborted += 1), resolve(null)), { once: true });
            }),
        },
      ],
      ['now', { description: 'Answers at once.', execute: async () => 1 }],
    ]);
    const own = scene.ownOrchestrator({ tools });
    const endings: [string, string, Partial<ExecOptions>][] = [
      ['ends', `${RAW}\ncall(1, 'wait')\ncall(2, 'now')\nreply()\nos._exit(0)`, {}],
      ['deadline', `${RAW}\ncall(1, 'wait')\ntime.sleep(60)`, { limits: { runTimeoutMs: 2_000, graceMs: 100 } }],
      [
        'late',
        `${RAW}\nimport signal\nsignal.signal(signal.SIGTERM, lambda *_: call(2, 'wait'))\ncall(1, 'wait')\nwhile True: time.sleep(0.05)`,
        { limits: { runTimeoutMs: 2_000, graceMs: 600 } },
      ],
    ];
    for (const [what, code, more] of endings) {
      begun = 0;
      aborted = 0;
      const result = await own.exec({ language: 'python', isolation: scene.level, tools: ['*'], code, ...more });
      await until(() => aborted === begun, 'the end of all calls');
      expect([what, begun > 0, aborted]).toEqual([what, true, begun]);
      expect(result.calls.filter(({ ok }) => ok).map(({ name }) => name)).toEqual(what === 'ends' ? ['now'] : []);
    }
    const stream = own.stream({
      kind: 'exec',
      tools: ['*'],
      language: 'python',
      isolation: scene.level,
      code: `${RAW}\ncall(1, 'wait')\ntime.sleep(20)`,
    });
    begun = 0;
    aborted = 0;
    while (begun === 0) await pause(10);
    own.cancel(stream.jobId);
    const canceled = await stream.result;
    const after = begun;
    await pause(300);
    expect(canceled.outcome).toBe('canceled');
    expect([begun, aborted]).toEqual([after, after]);
    scene.evidence('every call under way was told of the end: by exit, deadline, in the grace, and by cancellation');
  },
);

attack(
  'E10',
  'makes calls with 8 MiB of bytes for an answer and reads none of them',
  { levels: EVERY_LEVEL, needs: ['cgroups'] },
  async (scene) => {
    // As much as a result may have, together with its JSON.
    const large = new Uint8Array(8 * MIB - 64).fill(1);
    let count = 0;
    const tools = toolList([
      ['large', { description: 'Gives many bytes.', execute: () => ((count += 1), Promise.resolve(large)) }],
    ]);
    const own = scene.ownOrchestrator({ tools, concurrency: 2 });
    const given = { language: 'python', isolation: scene.level, tools: ['*'] as string[] } as const;
    const limits = { runTimeoutMs: 60_000, graceMs: 100, memoryMib: 128, workspaceMib: 32 };
    const caller = new AbortController();
    const running = own.exec({
      ...given,
      code: `${RAW}\nfor number in range(1, 801): call(number, 'large')\ntime.sleep(60)`,
      limits,
      signal: caller.signal,
    });
    let isOver = false;
    void running.finally(() => (isOver = true));
    await until(() => count > 0, 'the first call');
    const beside = await own.exec({ ...given, code: 'print("beside")' });
    expect([beside.stdout.text, isOver]).toEqual(['beside\n', false]);
    caller.abort();
    expect(await running).toMatchObject({ outcome: 'canceled' });
    const taken = count;
    // Calls under way, and calls that were waiting at their end.
    expect(taken).toBeLessThanOrEqual(2 * 64);
    // A program that reads its answers gets all of their bytes.
    const reading = `${RAW}
for number in range(1, 9):
    call(number, 'large')
    size = 0
    while size < ${large.length}:
        header = b''
        while len(header) < 4: header += os.read(200, 4 - len(header))
        kind, left = header[3], int.from_bytes(header[:3], 'little')
        size += (left - 4) * kind
        while left: left -= len(os.read(200, left))
print(number, size)`;
    expect(await own.exec({ ...given, code: reading })).toMatchObject({
      outcome: 'succeeded',
      stdout: { text: `8 ${large.length}\n` },
    });
    expect(count).toBe(taken + 8);
    scene.onSafety(({ grownMib }) => {
      expect(grownMib).toBeLessThan(64);
      scene.evidence(`${taken} of 800 calls taken until its deadline; grew by ${Math.round(grownMib)} MiB`);
    });
  },
);

/** A program whose child makes calls over the same descriptor after its parent has written a byte, or has ended. */
const outlived = (last: string, isGone = ''): string => `${PARTS}
reading, writing = os.pipe()
parent = os.getpid()
if os.fork() == 0:
    import signal
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.read(reading, 1)
    ${isGone}
    for number in range(1, 50):
        announce(number, (['a'], 5, number), args={'a': None})
        part(number, b'hello')
        time.sleep(0.01)
    os._exit(0)
${last}`;
/** The last number is the most calls that are made: those of 49 that arrive before the supervisor has seen the end of their program. */
const AFTER_ITS_END: [string, string, number][] = [
  [
    'of a process that outlives it',
    outlived("os.write(writing, b'x')\nos._exit(5)", 'while os.getppid() == parent: pass'),
    10,
  ],
  ['whose bytes never come', `${PARTS}\nannounce(1, (['a'], 5, 7), args={'a': None})\npart(7, b'he')\nos._exit(5)`, 0],
];

attack('E11', 'makes calls with bytes after the end of its run', { levels: EVERY_LEVEL }, async (scene) => {
  const { run, calls } = withTools(scene);
  const control = outlived("os.write(writing, b'x')\nprint(reply()['ok'], flush=True)\nos._exit(0)");
  expect((await run({ code: control })).stdout.text).toBe('True\n');
  expect(calls.seen[0]).toEqual({ a: Buffer.from('hello') });
  expect(calls.count).toBeGreaterThan(0);
  for (const [what, code, most] of AFTER_ITS_END) {
    const { count: before } = calls;
    const result = await run({ code });
    const { count } = calls;
    expect(result, what).toMatchObject({ outcome: 'failed', exitCode: 5 });
    expect(count - before, what).toBeLessThanOrEqual(most);
    // A call that was made before the end was seen may also have been answered before.
    expect(result.calls.filter((call) => call.code !== 'tool.job-over').length, what).toBeLessThanOrEqual(
      count - before,
    );
    expect((await run({ code: 'print(6 * 7)' })).stdout.text).toBe('42\n');
    expect([what, calls.count]).toEqual([what, count]);
  }
  scene.evidence(`none was made after the end: ${AFTER_ITS_END.map(([what]) => what).join(', ')}; exit code 5 stands`);
});

/** The end of a call whose five bytes do not all arrive, and the outcome of its job. */
const UNFINISHED: [string, string, Partial<JobResult>][] = [
  ['an end', 'os._exit(4)', { outcome: 'failed', exitCode: 4 }],
  ['another call', "call(2, args='served')\nprint(reply()['value'])\nos._exit(4)", { outcome: 'failed', exitCode: 4 }],
  ['the bytes of another call', "part(8, b'lo')\ntime.sleep(20)", { outcome: 'failed' }],
  [
    'a message within a frame of bytes',
    "raw(struct.pack('<I', 9 | 1 << 24))\ncall(2)\ntime.sleep(20)",
    { outcome: 'failed' },
  ],
];

attack(
  'E11',
  'announces more bytes than it sends, and then ends or sends another message',
  { levels: EVERY_LEVEL },
  async (scene) => {
    const { run, calls } = withTools(scene);
    const begun = `${PARTS}\nannounce(1, (['a'], 5, 7), args={'a': None})\npart(7, b'hel')\n`;
    const whole = await run({ code: `${begun}part(7, b'lo')\nprint(reply()['ok'])` });
    expect([whole.stdout.text, calls.seen]).toEqual(['True\n', [{ a: Buffer.from('hello') }]]);
    for (const [what, code, outcome] of UNFINISHED) {
      calls.seen = [];
      const result = await run({ code: begun + code });
      expect(result, what).toMatchObject(outcome);
      expect(calls.seen, what).toEqual(what === 'another call' ? ['served'] : []);
      expect(result.calls.filter(({ id }) => id === 1)).toMatchObject([{ ok: false, code: 'tool.job-over' }]);
    }
    scene.onSafety(({ grownMib }) => expect(grownMib).toBeLessThan(64));
    scene.evidence(`tool.job-over for the call before ${UNFINISHED.map(([what]) => what).join(', ')}`);
  },
);

attack('E13', 'learns nothing of the host from the errors of tools', { levels: EVERY_LEVEL }, async (scene) => {
  const tools = toolList([
    [
      'fails',
      {
        description: 'Fails with details.',
        execute: () =>
          Promise.reject(
            new Error(`ENOENT: no such file, open '/root/.aws/credentials' SECRET=${process.env['HOME']}`),
          ),
      },
    ],
    [
      'tells',
      {
        description: 'Fails with a message for the program.',
        execute: () => Promise.reject(new ToolError('there is no such city')),
      },
    ],
    [
      'throws',
      {
        description: 'Throws a value that is not an error.',
        // oxlint-disable-next-line prefer-promise-reject-errors -- a foreign tool may do so
        execute: () => Promise.reject(Object.assign(Object.create(null) as object, { path: '/root/x' })),
      },
    ],
  ]);
  const own = scene.ownOrchestrator({ tools });
  const result = await own.exec({
    tools: ['*'],
    language: 'python',
    isolation: scene.level,
    code: `${RAW}\nfor number, name in enumerate(('fails', 'tells', 'throws'), 1):\n    call(number, name)\n    print(json.dumps(reply()))`,
  });
  expect(result.stdout.text).not.toMatch(/root|ENOENT|SECRET|aws| at |\.ts/);
  expect(result.stdout.text.trim().split('\n')).toHaveLength(3);
  expect(result.stdout.text).toContain('there is no such city');
  expect(JSON.stringify(result.calls)).not.toMatch(/root|ENOENT|SECRET/);
  scene.evidence(result.stdout.text.trim().split('\n')[0] ?? '');
});

attack(
  'E15',
  'finds no socket, pipe or folder of another job',
  { levels: ['namespace'], ofThisHost: true },
  async ({ job, evidence }) => {
    const owner = ownerName(currentOwner());
    const ours = (): string[] => readdirSync(tmpdir()).filter((name) => name.includes(owner));
    const open = job({ isolation: 'none', code: 'import time\ntime.sleep(1.5)' });
    await until(() => ours().length === 1, 'the folder of a job without a level');
    await open;
    await until(() => ours().length === 0, 'the end of that folder');
    const beside = job({ code: 'import time\ntime.sleep(1.5)' });
    await until(() => sandboxProcesses().length > 3, 'the start of the program');
    expect(ours()).toEqual([]);
    await beside;
    evidence('a job at this level has no folder on the host at all: its channel is a pair of unnamed sockets');
  },
);
