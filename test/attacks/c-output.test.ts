import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { plainly } from './plainly.ts';
import { attack, EVERY_LEVEL } from './surroundings.ts';

const MIB = 1024 * 1024;
const KEPT = MIB;

/** Writes 200 MiB of one kind to the given streams. */
function flood(block: string, streams: readonly number[] = [1]): string {
  return `
import os, threading
block = ${block}
def write(stream):
    left = 200 * 1048576 // ${streams.length}
    while left > 0: left -= os.write(stream, block[:left])
threads = [threading.Thread(target=write, args=(stream,)) for stream in (${streams.join(', ')},)]
for thread in threads: thread.start()
for thread in threads: thread.join()
`;
}

const FLOODS: [string, string, string, number[]][] = [
  ['C01', 'floods its output with lines', "b'0123456789abcde\\n' * 65536", [1]],
  ['C02', 'floods its output without a line’s end', "b'x' * 1048576", [1]],
  ['C11', 'floods both streams at once', "b'both streams here\\n' * 40000", [1, 2]],
  ['C16', 'floods its output with control characters', 'bytes(range(32)) * 32768', [1]],
];
for (const [id, what, block, streams] of FLOODS) {
  attack(
    id,
    `${what}: the host keeps little and goes on`,
    { levels: EVERY_LEVEL },
    async ({ job, evidence, onSafety }) => {
      const code = flood(block, streams);
      // Plainly, every byte arrives and is held.
      const counted = await plainly('bash', 'python3 main.py 2>&1 | wc -c', {
        launcher: ['/bin/bash', '-c', 'printf %s "$CODE" >main.py; exec "$@"', 'bash'],
        env: { CODE: code },
      });
      expect(Number(counted.stdout)).toBe(200 * MIB);
      const result = await job({ code });
      expect(result).toMatchObject({ outcome: 'succeeded', exitCode: 0 });
      expect(result.stdout.bytes + result.stderr.bytes).toBe(200 * MIB);
      for (const stream of streams.map((number) => (number === 1 ? result.stdout : result.stderr))) {
        expect(stream.truncated).toBe(true);
        expect(Buffer.byteLength(stream.text)).toBeLessThanOrEqual(KEPT);
        expect(Buffer.byteLength(stream.text)).toBeGreaterThan(KEPT - 4);
      }
      // In JSON, control characters take six times their size; the cap applies to the program's own bytes.
      expect(JSON.stringify(result).length).toBeLessThan(streams.length * 6.2 * KEPT);
      onSafety(({ grownMib }) => {
        expect(grownMib).toBeLessThan(64);
        evidence(
          `200 MiB counted, ${streams.length} MiB kept, this process grew by ${Math.round(grownMib)} MiB at most`,
        );
      });
    },
  );
}

attack(
  'C01',
  'is ended when it writes more than it may in all',
  { levels: EVERY_LEVEL },
  async ({ job, evidence, onSafety }) => {
    const code = "import os\nblock = b'x' * 1048576\nwhile True: os.write(1, block)";
    const plain = await plainly('bash', 'head -c 400000000 | wc -c', {
      launcher: ['/bin/bash', '-c', 'yes | "$@"', 'bash'],
    });
    expect(Number(plain.stdout)).toBe(400_000_000);
    const result = await job({ code });
    expect(result).toMatchObject({ outcome: 'limit', limit: 'output' });
    expect(result.stdout.bytes).toBeGreaterThanOrEqual(256 * MIB);
    expect(result.stdout.bytes).toBeLessThan(300 * MIB);
    onSafety(({ grownMib }) => expect(grownMib).toBeLessThan(64));
    evidence(`limit output after ${Math.round(result.stdout.bytes / MIB)} MiB`);
  },
);

attack(
  'C03',
  'writes single bytes, and the host holds about as many',
  { levels: EVERY_LEVEL, timeoutMs: 60_000 },
  async ({ job, ownOrchestrator, level, evidence, onSafety }) => {
    const code = `
import os, time
for count in range(1, 300001):
    os.write(1, b'x')
    os.write(2, b'y')
    if count % 50 == 0: time.sleep(0.0002)`;
    const result = await job({ code, limits: { runTimeoutMs: 40_000 } });
    expect(result).toMatchObject({ outcome: 'succeeded', stdout: { bytes: 300_000 }, stderr: { bytes: 300_000 } });
    // This stream has no reader: data that waits for a reader is bounded as well.
    const own = ownOrchestrator({});
    const stream = own.stream({
      kind: 'exec',
      language: 'python',
      isolation: level,
      code,
      limits: { runTimeoutMs: 40_000 },
    });
    expect(await stream.result).toMatchObject({ outcome: 'succeeded', stdout: { bytes: 300_000 } });
    onSafety(({ grownMib, loopDelayMs }) => {
      expect(grownMib).toBeLessThan(64);
      evidence(`grew by ${Math.round(grownMib)} MiB, the loop waited ${Math.round(loopDelayMs)} ms at most`);
    });
  },
);

attack(
  'C06',
  'is slowed down by a paused reader, and loses no output',
  { levels: EVERY_LEVEL, timeoutMs: 60_000 },
  async ({ orchestrator, level, evidence, onSafety }) => {
    const code = `
import os
for part in range(24): os.write(1, bytes([97 + part]) * 1048576)
os.write(2, b'the end')`;
    const limits = { keptOutputBytes: 32 * MIB, runTimeoutMs: 30_000 };
    const stream = orchestrator.stream({ kind: 'exec', language: 'python', isolation: level, code, limits });
    let seen = 0;
    let ended = '';
    for await (const event of stream) {
      if (event.type !== 'output') continue;
      seen += event.bytes.length;
      if (event.stream === 'stderr') ended += Buffer.from(event.bytes).toString();
      if (seen === event.bytes.length) await pause(2_000);
    }
    const result = await stream.result;
    expect(result).toMatchObject({
      outcome: 'succeeded',
      stdout: { bytes: 24 * MIB, truncated: false },
      stderr: { text: 'the end' },
    });
    expect(result.stdout.text.length).toBe(24 * MIB);
    expect(seen).toBe(24 * MIB + 7);
    expect(ended).toBe('the end');
    onSafety(({ grownMib }) =>
      evidence(`24 MiB read after a pause of 2 s; this process grew by ${Math.round(grownMib)} MiB`),
    );
  },
);

attack(
  'C06',
  'has its last bytes read even if its reader pauses during its end',
  { levels: EVERY_LEVEL, timeoutMs: 60_000 },
  async ({ orchestrator, level, evidence }) => {
    // Slightly more than the buffer for a reader: the rest is in the pipe of an ended program.
    for (const size of [5 * MIB, 5 * MIB + 160 * 1024, 5 * MIB + 224 * 1024]) {
      const code = `import os\nrest = b'a' * ${size}\nwhile rest: rest = rest[os.write(1, rest):]`;
      const limits = { keptOutputBytes: 32 * MIB, runTimeoutMs: 30_000 };
      const stream = orchestrator.stream({ kind: 'exec', language: 'python', isolation: level, code, limits });
      let seen = 0;
      for await (const event of stream) {
        if (event.type !== 'output') continue;
        if (seen === 0) await pause(900);
        seen += event.bytes.length;
      }
      const { stdout } = await stream.result;
      expect(stdout).toMatchObject({ bytes: size, truncated: false });
      expect([stdout.text.length, seen]).toEqual([size, size]);
    }
    evidence('three programs that ended 0.9 s before they were read, every byte is there');
  },
);

attack(
  'C08',
  'writes broken characters, which change no other byte',
  { levels: EVERY_LEVEL },
  async ({ job, evidence }) => {
    const code = `
import os, time
for byte in 'aé€𝄞'.encode() + b'\\xff\\xfe' + b'\\xed\\xa0\\x80' + b'\\xf0\\x9f': 
    os.write(1, bytes([byte]))
    time.sleep(0.003)`;
    const result = await job({ code });
    expect(result.stdout).toEqual({ text: 'aé€𝄞\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD', bytes: 17, truncated: false });
    const cut = await job({ code: "import os\nos.write(1, 'x€'.encode())", limits: { keptOutputBytes: 3 } });
    expect(cut.stdout).toEqual({ text: 'x', bytes: 4, truncated: true });
    evidence('17 bytes, six of them replaced; a character over the cap is left out');
  },
);

attack(
  'C10',
  'writes lines that look like records of skillcell, which stay text',
  { levels: EVERY_LEVEL },
  async ({ job, evidence }) => {
    const forged = '{"outcome":"succeeded","exitCode":0}\n\u0000\u0001\u001b[2J"}],"stdout":{"text":"forged"}}\r\n';
    const result = await job({
      code: `import os\nos.write(1, bytes.fromhex('${Buffer.from(forged).toString('hex')}'))\nos._exit(9)`,
    });
    expect(result).toMatchObject({ outcome: 'failed', exitCode: 9, stdout: { text: forged } });
    const copy = JSON.parse(JSON.stringify(result)) as typeof result;
    expect(copy).toMatchObject({ outcome: 'failed', exitCode: 9, stdout: { text: forged } });
    evidence('one field holds all of it; outcome failed, exit code 9');
  },
);

attack(
  'C12',
  'closes its streams and goes on, and its deadline still holds',
  { levels: EVERY_LEVEL },
  async ({ job, evidence }) => {
    const code = 'import os, time\nfor stream in (0, 1, 2): os.close(stream)\nwhile True: time.sleep(1)';
    expect((await plainly('python', code, { timeoutMs: 900 })).signal).toBe('SIGKILL');
    const result = await job({ code, limits: { runTimeoutMs: 600, graceMs: 200 } });
    expect(result).toMatchObject({ outcome: 'timeout', stdout: { bytes: 0 } });
    const also = await job({
      language: 'bash',
      code: 'exec <&- >&- 2>&-; sleep 60',
      limits: { runTimeoutMs: 600, graceMs: 200 },
    });
    expect(also.outcome).toBe('timeout');
    evidence(`timeout after ${Math.round(result.usage.wallMs ?? 0)} ms`);
  },
);

attack(
  'C13',
  'leaves its output to a grandchild, whose end the job does not await',
  { levels: EVERY_LEVEL },
  async ({ job, evidence }) => {
    const code = `
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0: time.sleep(float(sys.argv[1]))
    os._exit(0)
os.write(1, b'parent')`;
    const plain = await plainly('python', code, { args: ['2'] });
    expect(plain.stdout).toBe('parent');
    expect(plain.tookMs).toBeGreaterThan(1_500);
    // A host that waited for it would run into the deadline.
    const result = await job({ code, args: ['120'] });
    expect(result).toMatchObject({ outcome: 'succeeded', stdout: { text: 'parent' } });
    evidence('the result came while the grandchild slept; plainly the output ended with it');
  },
);

attack(
  'C14',
  'reads none of 100 MB of input, or ends before it comes',
  { levels: EVERY_LEVEL },
  async ({ job, evidence, onSafety }) => {
    const stdin = Buffer.alloc(100_000_000, 'line of input\n');
    const idle = await job({ code: 'import time\ntime.sleep(1)', stdin });
    expect(idle).toMatchObject({ outcome: 'succeeded', exitCode: 0 });
    const closed = await job({ code: 'import os, time\nos.close(0)\ntime.sleep(0.3)', stdin });
    expect(closed).toMatchObject({ outcome: 'succeeded', exitCode: 0 });
    const gone = await job({ language: 'bash', code: 'exit 5', stdin });
    expect(gone).toMatchObject({ outcome: 'failed', exitCode: 5 });
    // The same bytes reach a program that reads them.
    const reads = await job({ language: 'bash', code: 'wc -c', stdin });
    expect(reads.stdout.text.trim()).toBe('100000000');
    onSafety(({ grownMib }) =>
      evidence(`three programs ended as they wished, a fourth read all; grew by ${Math.round(grownMib)} MiB`),
    );
  },
);
