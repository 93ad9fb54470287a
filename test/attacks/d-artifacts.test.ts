import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { JobResult } from '../../src/contracts/jobs/result.ts';
import type { Orchestrator } from '../../src/jobs/orchestrator.ts';
import { plainly } from './plainly.ts';
import { attack, type Scene, EVERY_LEVEL } from './surroundings.ts';
import { startQuietClock } from '../fixtures/quiet-clock.ts';

const MIB = 1024 * 1024;

async function bytesOf(orchestrator: Orchestrator, result: JobResult, path: string): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of orchestrator.artifact(result.jobId, path)) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

function reasons(result: JobResult): Record<string, string> {
  return Object.fromEntries(result.omitted.map(({ path, reason }) => [path, reason]));
}

const paths = (result: JobResult): string[] => result.artifacts.map((artifact) => artifact.path);

/** The output of a naive collector: `tar` that follows links, over the same folder. */
async function trusting(scene: Scene, code: string): Promise<string> {
  const folder = join(scene.folder, 'plain');
  mkdirSync(join(folder, 'out'), { recursive: true });
  await plainly('bash', 'cd "$1"; shift; exec "$@"', {
    args: [folder, '/bin/bash', '-c', code],
    env: { SKILLCELL_OUTPUT: join(folder, 'out') },
  });
  return execFileSync('tar', ['--dereference', '--ignore-failed-read', '-cf', '-', '-C', join(folder, 'out'), '.'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 64 * MIB,
  }).toString('latin1');
}

attack('D01', 'delivers no file of the host through a link to it', { levels: EVERY_LEVEL }, async (scene) => {
  const sentinel = join(scene.folder, 'sentinel');
  writeFileSync(sentinel, 'sentinel of the host');
  const code = `cd "$SKILLCELL_OUTPUT"; ln -s ${sentinel} link; ln -s /etc/hostname name; ln -s /etc/passwd passwd; echo fine >real`;
  expect(await trusting(scene, code)).toContain('sentinel of the host');
  const result = await scene.job({ language: 'bash', code });
  expect(paths(result)).toEqual(['real']);
  expect(reasons(result)).toEqual({ link: 'a symbolic link', name: 'a symbolic link', passwd: 'a symbolic link' });
  expect(JSON.stringify(result)).not.toContain('sentinel of the host');
  scene.evidence(`three links omitted; a collector that follows links gave the host's file`);
});

attack(
  'D02',
  'delivers no file through a folder that is a link, a loop or part of /proc',
  { levels: EVERY_LEVEL },
  async (scene) => {
    const secret = join(scene.folder, 'secrets');
    mkdirSync(secret);
    writeFileSync(join(secret, 'key'), 'sentinel of the host');
    const code = `cd "$SKILLCELL_OUTPUT"; ln -s ${secret} folder; ln -s . loop; ln -s ../out outer; ln -s /proc/self/environ environment; ln -s /proc/1 process`;
    expect(await trusting(scene, `cd "$SKILLCELL_OUTPUT"; ln -s ${secret} folder`)).toContain('sentinel of the host');
    const result = await scene.job({ language: 'bash', code });
    expect(result.artifacts).toEqual([]);
    expect(Object.keys(reasons(result)).toSorted()).toEqual(['environment', 'folder', 'loop', 'outer', 'process']);
    expect(new Set(Object.values(reasons(result)))).toEqual(new Set(['a symbolic link']));
    scene.evidence('five links omitted, no file collected');
  },
);

attack(
  'D03',
  'does not send the walk in circles by links to its own folder',
  { levels: EVERY_LEVEL },
  async (scene) => {
    const code = 'cd "$SKILLCELL_OUTPUT"; ln -s . a; ln -s . b; mkdir -p c/d; ln -s ../../../out c/d/e; echo x >c/d/f';
    // Every path over the two links is new: at depth eight there are 2^8 for each file.
    const walked = await plainly(
      'bash',
      `cd "$PWD"; mkdir out; SKILLCELL_OUTPUT=$PWD/out; ${code}; cd out; ls a/b/a/b/a/b/a/b | wc -l`,
    );
    expect(walked.stdout.trim()).toBe('3');
    const elapsedMs = startQuietClock();
    const result = await scene.job({ language: 'bash', code });
    expect(paths(result)).toEqual(['c/d/f']);
    expect(Object.keys(reasons(result)).toSorted()).toEqual(['a', 'b', 'c/d/e']);
    expect(elapsedMs()).toBeLessThan(3_000);
    scene.evidence('one file, three links omitted');
  },
);

attack(
  'D05',
  'has hard links delivered as separate files',
  { levels: EVERY_LEVEL },
  async ({ job, level, orchestrator, evidence }) => {
    const code =
      'cd "$SKILLCELL_OUTPUT"; echo inside >../kept; ln ../kept one; ln one two; ln "$1" three 2>/dev/null || echo refused';
    // At level none a program has its caller's rights over the caller's files.
    const args = [level === 'none' ? '/no/such/file' : '/usr/bin/env'];
    const result = await job({ language: 'bash', code, args });
    expect(paths(result)).toEqual(['one', 'two']);
    expect((await bytesOf(orchestrator, result, 'two')).toString()).toBe('inside\n');
    expect(result.stdout.text).toBe('refused\n');
    evidence('two independent files; a link to a program of the system is refused');
  },
);

attack(
  'D06',
  'does not hold the walk up by pipes, sockets and devices',
  { levels: EVERY_LEVEL },
  async ({ job, evidence }) => {
    const code = `
import os, socket
os.chdir(os.environ['SKILLCELL_OUTPUT'])
os.mkfifo('pipe')
server = socket.socket(socket.AF_UNIX)
server.bind('socket')
try: os.mknod('device', 0o20666, os.makedev(1, 5))
except OSError: print('no device')
open('real', 'w').write('fine')`;
    // Plainly, opening the pipe waits for a writer that never comes.
    const waits = await plainly('python', "import os\nos.mkfifo('pipe')\nopen('pipe').read()", { timeoutMs: 700 });
    expect(waits.signal).toBe('SIGKILL');
    const elapsedMs = startQuietClock();
    const result = await job({ code });
    expect(elapsedMs()).toBeLessThan(4_000);
    expect(paths(result)).toEqual(['real']);
    expect(reasons(result)).toMatchObject({ pipe: 'a pipe', socket: 'a socket' });
    if (!result.stdout.text.includes('no device')) expect(reasons(result)['device']).toBe('a device');
    evidence(JSON.stringify(reasons(result)));
  },
);

attack('D07', 'has no sparse file read', { levels: EVERY_LEVEL }, async ({ job, folder, evidence, onSafety }) => {
  const code = `
import os
os.chdir(os.environ['SKILLCELL_OUTPUT'])
for name, size in (('huge', 1 << 40), ('large', 40 << 20), ('fits', 1 << 20)):
    try:
        with open(name, 'wb') as file: file.truncate(size)
    except OSError as error:
        print(name, error.errno)`;
  expect(
    (await plainly('python', `${code}\nprint(os.stat('huge').st_size)`, { env: { SKILLCELL_OUTPUT: folder } })).stdout,
  ).toBe(`${2 ** 40}\n`);
  const elapsedMs = startQuietClock();
  const result = await job({ code });
  expect(elapsedMs()).toBeLessThan(5_000);
  expect(result.artifacts.map(({ path, bytes }) => [path, bytes])).toEqual([
    ['fits', MIB],
    ['huge', 0],
  ]);
  // A file cannot outgrow the workspace: the kernel refuses a terabyte, and a file over the cap of one file is omitted.
  expect(result.stdout.text).toBe('huge 27\n');
  expect(reasons(result)['large']).toMatch(/^over 33554432 bytes, got 41943040$/);
  onSafety(({ grownMib }) =>
    evidence(`EFBIG for 1 TiB, ${reasons(result)['large']}; grew by ${Math.round(grownMib)} MiB`),
  );
});

attack(
  'D08',
  'has 100 links to one large file counted at their full size',
  { levels: EVERY_LEVEL, timeoutMs: 60_000 },
  async ({ job, evidence, onSafety }) => {
    const code =
      'cd "$SKILLCELL_OUTPUT"; head -c 8388608 /dev/zero >000; for i in $(seq 1 99); do ln 000 $(printf %03d $i); done';
    // Hundreds of processes start, one after the other.
    const result = await job({ language: 'bash', code, limits: { runTimeoutMs: 45_000 } });
    expect(result).toMatchObject({ outcome: 'limit', limit: 'artifacts' });
    expect(result.artifacts.length).toBe(8);
    expect(result.omitted.length).toBe(92);
    onSafety(({ grownMib }) => {
      expect(grownMib).toBeLessThan(256);
      evidence(`8 of 100 fit into 64 MiB, 92 omitted; grew by ${Math.round(grownMib)} MiB`);
    });
  },
);

attack(
  'D09',
  'has no deep tree, no crowd of files and no endless name followed',
  { levels: EVERY_LEVEL, timeoutMs: 60_000 },
  async ({ job, evidence }) => {
    const deep = await job({
      code: `
import os
os.chdir(os.environ['SKILLCELL_OUTPUT'])
for depth in range(1000):
    os.mkdir('d')
    os.chdir('d')
open('file', 'w').write('deep')
os.chdir('/')
os.chdir(os.environ['SKILLCELL_OUTPUT'])
open('n' * 255, 'w').write('long')
open('é' * 127, 'w').write('long')`,
    });
    expect(deep.outcome).toBe('succeeded');
    expect(paths(deep).toSorted()).toEqual(['n'.repeat(255), 'é'.repeat(127)]);
    expect(deep.omitted).toEqual([
      { path: Array.from({ length: 16 }, () => 'd').join('/'), reason: 'deeper than 16 folders' },
    ]);
    const crowd = await job({
      code: `
import os
os.chdir(os.environ['SKILLCELL_OUTPUT'])
for number in range(7900): os.close(os.open(f'{number:05}', os.O_CREAT))`,
    });
    expect(crowd).toMatchObject({ outcome: 'limit', limit: 'artifacts' });
    expect(crowd.artifacts.length).toBe(64);
    expect(crowd.omitted.length).toBe(201);
    expect(crowd.omitted.at(-1)).toEqual({ path: '…', reason: `${7900 - 64 - 200} more entries were left behind` });
    evidence('1,000 folders: stopped at 16; 7,900 files: 64 taken, 200 named, the rest counted');
  },
);

attack(
  'D09',
  'has 20,000 files left out and counted, if a job may make that many',
  { levels: ['namespace'], timeoutMs: 60_000 },
  async ({ job, evidence }) => {
    const code = `
import os
os.chdir(os.environ['SKILLCELL_OUTPUT'])
for number in range(25000): os.close(os.open(f'{number:05}', os.O_CREAT))`;
    const result = await job({ code, limits: { workspaceInodes: 30_000 } });
    expect(result).toMatchObject({ outcome: 'limit', limit: 'artifacts' });
    expect(result.artifacts.length).toBe(64);
    expect(result.omitted.length).toBeLessThanOrEqual(201);
    evidence(result.omitted.at(-1)?.reason ?? '');
  },
);

const NAMES = String.raw`
import os
os.chdir(os.environ['SKILLCELL_OUTPUT'].encode())
for name in (b'new\nline', b'\x1b[2J', b'bad\xff\xfeutf8', b'..\\..\\x', b'-rf', b'__proto__', b'constructor', b'dot.', b'blank ', b'a=b', b'10 path=evil', b'\xe2\x80\xaetxt.exe', b'%2e%2e', b'~', b'$(id)', b'C:', b'.hidden', b'\xed\xa0\x80', b'"quote"', b'tab\there'):
    with open(name, 'wb') as file: file.write(name)
os.mkdir(b'folder\nwith')
with open(b'folder\nwith/file', 'wb') as file: file.write(b'x')
os.mkdir(b'__proto__.d')
with open(b'__proto__.d/__proto__', 'wb') as file: file.write(b'x')
`;

attack(
  'D10',
  'delivers files with odd names only if the name can be kept unchanged',
  { levels: EVERY_LEVEL },
  async ({ job, folder, orchestrator, evidence }) => {
    const output = join(folder, 'given');
    const kept = await job({ code: NAMES });
    const written = await job({ code: NAMES, output });
    expect(kept.outcome).toBe('succeeded');
    const names = [
      '$(id)',
      '%2e%2e',
      '-rf',
      '.hidden',
      '10 path=evil',
      'C:',
      '__proto__',
      '__proto__.d/__proto__',
      'a=b',
      'blank ',
      'constructor',
      'dot.',
      '"quote"',
      '~',
    ];
    expect(paths(kept).toSorted()).toEqual(names.toSorted());
    expect(paths(written)).toEqual(paths(kept));
    for (const name of names) {
      const base = name.split('/').at(-1) ?? '';
      expect((await bytesOf(orchestrator, kept, name)).toString()).toBe(name.includes('/') ? 'x' : base);
      expect(readFileSync(join(output, name)).toString()).toBe(name.includes('/') ? 'x' : base);
    }
    expect(Object.keys(reasons(kept)).toSorted()).toEqual(
      [
        '..\\..\\x',
        '\\x1b[2J',
        'bad\\xff\\xfeutf8',
        'folder\\x0awith',
        'new\\x0aline',
        'tab\\x09here',
        '\\xed\\xa0\\x80',
        '\\u{202e}txt.exe',
      ]
        .map((name) => name.replace('bad\\xff\\xfeutf8', 'badÿþutf8').replace('\\xed\\xa0\\x80', 'í\u00A0\\x80'))
        .toSorted(),
    );
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    evidence(`${names.length} names kept byte for byte, ${kept.omitted.length} omitted, none rewritten`);
  },
);

attack(
  'D16',
  'is dead before its output is read, so no file is swapped for a link meanwhile',
  { levels: EVERY_LEVEL },
  async ({ job, orchestrator, folder, evidence }) => {
    const sentinel = join(folder, 'sentinel');
    writeFileSync(sentinel, 'sentinel of the host');
    const code = `
import os, sys, time
os.chdir(os.environ['SKILLCELL_OUTPUT'])
for number in range(30): open(f'file-{number:02}', 'w').write('mine')
os.mkdir('sub')
open('sub/file', 'w').write('mine')
if os.fork() == 0:
    os.setsid()
    if os.fork() > 0: os._exit(0)
    end = time.monotonic() + 5
    while time.monotonic() < end:
        for name in [f'file-{number:02}' for number in range(30)]:
            try:
                os.symlink(sys.argv[1], 'link')
                os.rename('link', name)
                with open('new', 'w') as file: file.write('mine')
                os.rename('new', name)
                os.rename('sub', 'away'); os.symlink('/etc', 'sub'); os.unlink('sub'); os.rename('away', 'sub')
            except OSError: pass
    os._exit(0)
time.sleep(0.2)`;
    const result = await job({ code, args: [sentinel] });
    expect(result.outcome).toBe('succeeded');
    for (const { path } of result.artifacts) {
      expect((await bytesOf(orchestrator, result, path)).toString(), path).toMatch(/^(mine)?$/);
    }
    expect(result.artifacts.length + result.omitted.length).toBeGreaterThan(28);
    evidence(`${result.artifacts.length} files, each as it was at the end; ${result.omitted.length} omitted`);
  },
);

attack(
  'D19',
  'gets no input or program written through its leftovers',
  { levels: EVERY_LEVEL },
  async ({ job, folder, evidence }) => {
    // A job's own files cannot go through a link of another file, since only regular files arrive.
    const result = await job({
      language: 'bash',
      code: 'cat data/one; ls -la data | grep -c "^l"; ls',
      files: [
        { destination: 'data/one', bytes: Buffer.from('first\n') },
        { destination: 'data/two', bytes: Buffer.from('second\n') },
      ],
    });
    expect(result.stdout.text).toBe('first\n0\ndata\nmain.sh\nout\n');
    await expect(
      job({
        code: 'print(1)',
        files: [
          { destination: 'a', bytes: Buffer.from('x') },
          { destination: 'a/b', bytes: Buffer.from('x') },
        ],
      }),
    ).rejects.toMatchObject({ code: 'job.invalid' });
    for (const destination of [
      '../escape',
      '/etc/escape',
      'a/../../b',
      'a//b',
      '',
      '.',
      'a\\b',
      'a\0b',
      'x'.repeat(256),
    ]) {
      await expect(
        job({ code: 'print(1)', files: [{ destination, bytes: Buffer.from('x') }] }),
        destination,
      ).rejects.toMatchObject({ code: 'job.invalid' });
    }
    await expect(
      job({ language: 'bash', code: 'echo program', files: [{ destination: 'main.sh', bytes: Buffer.from('x') }] }),
    ).rejects.toMatchObject({ code: 'job.invalid' });
    expect(readdirSync(folder)).toEqual([]);
    evidence('ten destinations refused; only regular files arrive');
  },
);

attack(
  'D20',
  'has its folder removed, but no target of its links',
  { levels: ['none'] },
  async ({ job, folder, evidence }) => {
    const precious = join(folder, 'precious');
    mkdirSync(precious);
    writeFileSync(join(precious, 'file'), 'precious');
    const before = statSync(join(precious, 'file'));
    const code = `ln -s ${precious} folder; ln -s ${precious}/file file; mkdir -p a/b; ln -s ${precious} a/b/c; ln ${precious}/file hard; mkdir locked; touch locked/x; chmod 000 locked; chattr +i locked 2>/dev/null; true`;
    expect(await job({ language: 'bash', code: code.replace('chattr +i locked 2>/dev/null; ', '') })).toMatchObject({
      outcome: 'succeeded',
    });
    const after = statSync(join(precious, 'file'));
    expect(readFileSync(join(precious, 'file'), 'utf8')).toBe('precious');
    expect([after.mode, after.uid, after.mtimeMs]).toEqual([before.mode, before.uid, before.mtimeMs]);
    expect(readdirSync(precious)).toEqual(['file']);
    evidence('file, mode and owner as before; the work folder is gone');
  },
);

attack('D21', 'has unreadable files named, and the rest kept', { levels: ['namespace'] }, async ({ job, evidence }) => {
  const code =
    'cd "$SKILLCELL_OUTPUT"; echo a >a; echo b >b; chmod 000 b; mkdir c; echo d >c/d; chmod 000 c; echo e >e; chmod 4777 e';
  const result = await job({ language: 'bash', code });
  expect(paths(result)).toEqual(['a', 'e']);
  expect(reasons(result)).toEqual({ b: 'unreadable (EACCES)', c: 'unreadable (EACCES)' });
  evidence(JSON.stringify(reasons(result)));
});

const VALUES: [string, string, RegExp | undefined][] = [
  ['a key that reaches prototypes', '{"__proto__":{"polluted":1}}', /forbidden|prototype/i],
  ['an escaped key that reaches prototypes', '{"\\u005f\\u005fproto__":{"polluted":1}}', /forbidden|prototype/i],
  ['a constructor’s prototype', '{"constructor":{"prototype":{"polluted":1}}}', /forbidden|prototype/i],
  ['100,000 levels', '['.repeat(100_000) + ']'.repeat(100_000), /nested over/],
  ['as many levels as the parser takes', '['.repeat(64) + ']'.repeat(64), undefined],
  ['60,000 keys', `{${Array.from({ length: 60_000 }, (_, index) => `"${index}":0`).join(',')}}`, /over 262144 bytes/],
  ['more values than the channel takes', `[${'1,'.repeat(130_000)}1]`, undefined],
  ['an invalid number', '{"a":1e999,"a":2}', undefined],
  ['a lone surrogate', '"\\ud800 \\u0000 \\u2028"', undefined],
  ['no JSON', '{a:1}', /./],
  ['half of a string', '"\\', /./],
  ['nothing but blanks', '   ', /./],
];

attack(
  'D22',
  'sets hostile values, which are left out or are data',
  { levels: EVERY_LEVEL, timeoutMs: 90_000 },
  async ({ job, evidence }) => {
    let left = 0;
    for (const [what, json, fault] of VALUES) {
      const files = [{ destination: 'value', bytes: Buffer.from(json) }];
      const byFile = await job({ language: 'bash', code: 'cat value >"$SKILLCELL_VALUE"', files });
      // The same through the executor's own message, whose form user code can forge.
      const forged = await job({
        code: "import json, os, struct\nbody = json.dumps({'type': 'value', 'json': open('value').read()}).encode()\nview = struct.pack('<I', len(body)) + body\nwhile view: view = view[os.write(201, view):]",
        files,
      });
      for (const result of [byFile, forged]) {
        expect(result.outcome, what).toBe('succeeded');
        const diagnostic = result.diagnostics.find((row) => row.code === 'value.invalid');
        if (fault !== undefined) {
          expect(diagnostic?.message, what).toMatch(fault);
          expect(result, what).not.toHaveProperty('value');
          left += 1;
        } else if (diagnostic === undefined) expect(result, what).toHaveProperty('value');
        expect(JSON.stringify(result).length).toBeLessThan(MIB);
      }
      expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    }
    evidence(`${VALUES.length} values by file and by message: ${left} left out with a reason, the others are data`);
  },
);

attack(
  'D22',
  'leaves a value that is not a file or is too large',
  { levels: EVERY_LEVEL },
  async ({ job, evidence }) => {
    const found: string[] = [];
    for (const code of [
      'ln -s /etc/passwd "$SKILLCELL_VALUE"',
      'mkfifo "$SKILLCELL_VALUE"',
      'mkdir "$SKILLCELL_VALUE"',
      'truncate -s 900K "$SKILLCELL_VALUE"',
      'ln -s /dev/zero "$SKILLCELL_VALUE"',
    ]) {
      const result = await job({ language: 'bash', code });
      expect(result, code).toMatchObject({ outcome: 'succeeded' });
      expect(result, code).not.toHaveProperty('value');
      found.push(result.diagnostics.find((row) => row.code === 'value.invalid')?.message ?? 'none');
    }
    expect(found).not.toContain('none');
    evidence(found.map((message) => message.replace('The value is left out: ', '')).join('; '));
  },
);

attack(
  'D23',
  'writes through no existing link in the caller’s folder',
  { levels: EVERY_LEVEL },
  async ({ job, folder, evidence }) => {
    const output = join(folder, 'given');
    const outside = join(folder, 'outside');
    mkdirSync(output);
    mkdirSync(outside);
    writeFileSync(join(outside, 'victim'), 'untouched');
    symlinkSync(join(outside, 'victim'), join(output, 'report'));
    symlinkSync(outside, join(output, 'sub'));
    mkdirSync(join(output, 'taken'));
    symlinkSync(join(outside, 'not-there'), join(output, 'dangling'));
    const code =
      'cd "$SKILLCELL_OUTPUT"; echo new >report; echo new >dangling; mkdir sub; echo new >sub/victim; echo new >taken; echo new >plain';
    const result = await job({ language: 'bash', code, output });
    expect(readFileSync(join(outside, 'victim'), 'utf8')).toBe('untouched');
    expect(readdirSync(outside)).toEqual(['victim']);
    expect(lstatSync(join(output, 'report')).isFile()).toBe(true);
    expect(readFileSync(join(output, 'report'), 'utf8')).toBe('new\n');
    expect(lstatSync(join(output, 'dangling')).isFile()).toBe(true);
    expect(paths(result)).toEqual(['dangling', 'plain', 'report']);
    expect(Object.keys(reasons(result)).toSorted()).toEqual(['sub/victim', 'taken']);
    expect(readdirSync(output).filter((name) => name.endsWith('.part'))).toEqual([]);
    evidence(`links replaced, ${JSON.stringify(reasons(result))}; the file behind is untouched`);
  },
);

attack(
  'D24',
  'replaces its output folder, and nothing behind it is collected',
  { levels: EVERY_LEVEL },
  async ({ job, folder, evidence }) => {
    writeFileSync(join(folder, 'sentinel'), 'sentinel of the host');
    const found: string[] = [];
    for (const replacement of [
      `ln -s ${folder} out`,
      'ln -s /etc out',
      'mkfifo out',
      'echo x >out',
      'ln -s out out',
      'ln -s /proc/self/root out',
    ]) {
      const result = await job({ language: 'bash', code: `cd "$WORKSPACE"; rmdir out; ${replacement}` });
      expect(result, replacement).toMatchObject({ outcome: 'succeeded', artifacts: [] });
      found.push(...Object.values(reasons(result)));
    }
    expect(found).toEqual(Array.from({ length: 6 }, () => 'the output folder was replaced by something else'));
    const gone = await job({ language: 'bash', code: 'rmdir "$SKILLCELL_OUTPUT"' });
    expect(gone).toMatchObject({ outcome: 'succeeded', artifacts: [], omitted: [] });
    const moved = await job({
      language: 'bash',
      code: `cd "$WORKSPACE"; rmdir out; mkdir real; echo x >real/file; ln -s real out`,
      expect: ['file'],
    });
    expect(moved).toMatchObject({ outcome: 'failed', artifacts: [], contract: { satisfied: false } });
    evidence('six replacements named, no file collected');
  },
);

attack(
  'D25',
  'does not satisfy its declared outputs with a link, a folder or a pipe',
  { levels: EVERY_LEVEL },
  async ({ job, evidence }) => {
    const code =
      'cd "$SKILLCELL_OUTPUT"; ln -s /etc/passwd link; mkdir folder; mkfifo pipe; mkdir real; echo x >real/file; ln -s real through; echo x >fine';
    const expected = ['link', 'folder', 'pipe', 'through/file', 'missing', 'fine', 'real/file'];
    const result = await job({ language: 'bash', code, expect: expected });
    expect(result).toMatchObject({ outcome: 'failed', exitCode: 0, error: { name: 'ContractError' } });
    expect(result.contract).toEqual({
      satisfied: false,
      missing: ['link', 'folder', 'pipe', 'through/file', 'missing'],
    });
    evidence(`missing: ${result.contract?.missing.join(', ')}`);
  },
);

attack(
  'D26',
  'delivers no device that looks like a file in a listing',
  { levels: ['namespace'] },
  async ({ job, evidence, onSafety }) => {
    // The sandbox has /dev/zero as a file that was mounted over another one. A hard link to it would cross file systems, but a rename of its folder
    // does not. The value and the outputs are checked through their descriptors.
    const code = `
import os
entries = {entry.name: entry.is_file(follow_symlinks=False) for entry in os.scandir('/dev')}
print(sorted(name for name in entries if name in ('zero', 'full')))
for target in ('/dev/zero', '/dev/full'):
    for name in (os.environ['SKILLCELL_OUTPUT'] + '/device', os.environ['SKILLCELL_VALUE']):
        try: os.link(target, name)
        except OSError as error: print(error.errno)
        try: os.symlink(target, name)
        except OSError as error: print(error.errno)`;
    const result = await job({ code });
    expect(result.artifacts).toEqual([]);
    expect(result).not.toHaveProperty('value');
    expect(reasons(result)).toEqual({ device: 'a symbolic link' });
    onSafety(({ grownMib }) => expect(grownMib).toBeLessThan(64));
    evidence(result.stdout.text.trim().replaceAll('\n', ' '));
  },
);

attack(
  'D26',
  'delivers no device that was mounted over a file of its output',
  { levels: ['namespace'], needs: ['root'] },
  async ({ folder, evidence }) => {
    // No job can mount, so the walk itself gets a folder with such mounts.
    const script = `
import { collectArtifacts } from ${JSON.stringify(fileURLToPath(new URL('../../runtime/files/collect-artifacts.ts', import.meta.url)))};
import { DEFAULT_LIMITS } from ${JSON.stringify(fileURLToPath(new URL('../../src/contracts/jobs/limits.ts', import.meta.url)))};
const collection = { omitted: [], overLimit: false };
const found = [...collectArtifacts(process.argv[2], DEFAULT_LIMITS, collection)].map(({ path, bytes }) => [path, bytes.length]);
console.log(JSON.stringify({ found, omitted: collection.omitted }));`;
    const output = join(folder, 'out');
    const mounted = [
      '/usr/bin/unshare',
      '--mount',
      '/bin/sh',
      '-c',
      `mkdir -p ${output} && cd ${output} && touch zero full && echo x >real && mount --bind /dev/zero zero && mount --bind /dev/full full && head -c 4 zero | wc -c >&2 && exec "$@"`,
      'sh',
    ];
    const run = await plainly('typescript', script, { launcher: mounted, args: [output] });
    expect(run.stderr).toContain('4\n');
    expect(JSON.parse(run.stdout)).toEqual({
      found: [['real', 2]],
      omitted: [
        { path: 'full', reason: 'a device' },
        { path: 'zero', reason: 'a device' },
      ],
    });
    evidence('/dev/zero and /dev/full over two files: named as devices, no byte read');
  },
);
