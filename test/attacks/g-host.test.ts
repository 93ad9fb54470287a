import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { InputFile } from '../../src/contracts/jobs/job.ts';
import type { BuiltInLanguage as Language } from '../../src/contracts/jobs/language.ts';
import { isExiting, listProcesses } from '../../runtime/sandbox/process-table.ts';
import { endThoseWith, processesWith } from './leftovers.ts';
import { plainly, runCommand } from './plainly.ts';
import { runSeparateHost } from './separate-host.ts';
import { EVERY_LEVEL, attack, type Level } from './surroundings.ts';
import { startQuietClock } from '../fixtures/quiet-clock.ts';
import { until } from '../fixtures/until.ts';
import { HIDE_BUBBLEWRAP } from '../fixtures/without-bubblewrap.ts';

/** Levels of the local runner, because these tests start their own host. */
const BOTH: Level[] = ['namespace', 'none'];

const DAEMONS: [string, string, (token: string) => string][] = [
  [
    'G01',
    'a daemon of two forks',
    (token) =>
      `import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0: os.execvp('python3', ['python3', '-c', 'import os, time; [os.dup2(os.open("/dev/null", 2), n) for n in (0, 1, 2)]; time.sleep(60)', '${token}'])\n    os._exit(0)\nos.wait()\ntime.sleep(0.2)`,
  ],
  [
    'G01',
    'a daemon that clears its environment',
    (token) =>
      `import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0: os.execve('/usr/bin/python3', ['python3', '-c', 'import os, time; [os.dup2(os.open("/dev/null", 2), n) for n in (0, 1, 2)]; time.sleep(60)', '${token}'], {})\n    os._exit(0)\nos.wait()\ntime.sleep(0.2)`,
  ],
  [
    'G02',
    'nohup and disown',
    (token) =>
      `import subprocess\nsubprocess.run(['bash', '-c', 'nohup python3 -c "import time; time.sleep(60)" ${token} >/dev/null 2>&1 </dev/null & disown; sleep 0.2'])`,
  ],
];
for (const [id, what, code] of DAEMONS) {
  attack(
    id,
    `leaves ${what}, which is gone within a second`,
    { levels: EVERY_LEVEL, needs: ['cgroups'] },
    async ({ job, evidence }) => {
      const plainToken = `daemon-plain-${process.pid}-${Math.random()}`;
      await plainly('python', code(plainToken));
      await endThoseWith(plainToken);
      const token = `daemon-${process.pid}-${Math.random()}`;
      const result = await job({ code: code(token) });
      const elapsedMs = startQuietClock();
      expect(result.outcome).toBe('succeeded');
      await until(() => processesWith(token).length === 0, 'the end of the daemon');
      const tookMs = elapsedMs();
      expect(tookMs).toBeLessThan(1_000);
      evidence(`gone ${Math.round(tookMs)} ms after the result; plainly it stayed`);
    },
  );
}

attack('G02', 'finds no service that would start it again', {}, async ({ job, evidence }) => {
  const places = `for path in /run/systemd/private /run/dbus/system_bus_socket /var/spool/cron /etc/cron.d /etc/systemd; do [ -e $path ] && echo "$path started"; done; true`;
  const code = `for command in at batch crontab systemd-run systemctl start-stop-daemon dbus-send; do
    path=$(command -v $command) || { echo "$command absent"; continue; }
    case $command in
      systemd-run) systemd-run sleep 60 >/dev/null 2>&1 && echo "$command started" || echo "$command refused" ;;
      crontab) echo '* * * * * sleep 60' | crontab - >/dev/null 2>&1 && echo "$command started" || echo "$command refused" ;;
      at | batch) echo 'sleep 60' | $command now >/dev/null 2>&1 && echo "$command started" || echo "$command refused" ;;
      systemctl) systemctl list-units >/dev/null 2>&1 && echo "$command started" || echo "$command refused" ;;
      *) echo "$command is only a program" ;;
    esac
  done
  ${places}`;
  // Services that exist plainly; the commands themselves are not tried there, because they might start something.
  expect((await plainly('bash', places)).stdout).toContain('started');
  const result = await job({ language: 'bash', code });
  expect(result.outcome).toBe('succeeded');
  expect(result.stdout.text).not.toContain('started');
  expect(result.stdout.text.split('\n').length).toBeGreaterThan(6);
  evidence(result.stdout.text.trim().replaceAll('\n', ', '));
});

attack('G05', 'runs without isolation only on explicit request', { levels: ['none'] }, async ({ folder, evidence }) => {
  // A machine on which bubblewrap cannot run.
  if (HIDE_BUBBLEWRAP === undefined) return evidence('tried as uid 0 only');
  const canary = join(folder, 'ran');
  const code = `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(canary)}, 'x');`;
  const { runs } = await runSeparateHost(
    {
      jobs: [
        { code, isolation: 'namespace' },
        { code, isolation: 'container' },
        { code, isolation: 'kernel' },
      ],
    },
    { launcher: HIDE_BUBBLEWRAP },
  );
  expect(runs.map((run) => run.error?.code)).toEqual([
    'runner.isolation-unmet',
    'runner.isolation-unmet',
    'runner.isolation-unmet',
  ]);
  expect(existsSync(canary)).toBe(false);
  const asked = await runSeparateHost({ jobs: [{ code, isolation: 'none' }] }, { launcher: HIDE_BUBBLEWRAP });
  expect(asked.runs[0]?.result).toMatchObject({ isolation: 'none', outcome: 'succeeded' });
  expect(existsSync(canary)).toBe(true);
  evidence(
    `A36: ${runs[0]?.error?.message.slice(0, 80) ?? ''}; with an explicit request the result has isolation none`,
  );
});

const ARGUMENTS = [
  '$(touch made)',
  '`touch made`',
  '; touch made',
  '-rf',
  '--',
  '--version',
  'a\nb',
  "'",
  '"',
  '\\',
  '*',
  '~',
  '${HOME}',
  '%s',
  '\u202Ex',
  '',
  ' ',
  '\t',
  '|cat',
  '&',
  'x'.repeat(100_000),
];
const ECHOES: Record<Exclude<Language, 'typescript'>, string> = {
  bash: 'for argument in "$@"; do printf "%s\\0" "$argument"; done; printf "%s" "$HOSTILE"; ls >&2',
  python:
    "import os, sys\nsys.stdout.write(''.join(a + '\\0' for a in sys.argv[1:]) + os.environ['HOSTILE'])\nprint('\\n'.join(os.listdir('.')), file=sys.stderr)",
  javascript:
    "import { readdirSync } from 'node:fs'; process.stdout.write(process.argv.slice(2).map((a) => a + '\\0').join('') + process.env.HOSTILE); console.error(readdirSync('.').join('\\n'));",
};
for (const [language, code] of Object.entries(ECHOES) as [Language, string][]) {
  attack(
    'G06',
    `passes hostile arguments and variables on unchanged in ${language}`,
    { levels: EVERY_LEVEL },
    async ({ job, evidence }) => {
      const hostile = '$(touch made)\n`touch made`; "\'\\ é';
      const result = await job({ language, code, args: ARGUMENTS, env: { HOSTILE: hostile } });
      expect(result.outcome).toBe('succeeded');
      expect(result.stdout.text.split('\0')).toEqual([...ARGUMENTS, hostile]);
      expect(result.stderr.text).not.toContain('made');
      for (const job1 of [
        { args: ['a\0b'] },
        { env: { A: 'a\0b' } },
        { env: { 'A=B': 'x' } },
        { env: { 'A B': 'x' } },
        { env: { '': 'x' } },
        { fileName: '../x' },
        { fileName: '-x;$(id)' },
        { fileName: 'a/b' },
      ]) {
        await expect(job({ language, code: 'exit', ...job1 }), JSON.stringify(job1)).rejects.toMatchObject({
          code: 'job.invalid',
        });
      }
      evidence(`${ARGUMENTS.length} arguments and a variable byte for byte; eight names refused`);
    },
  );
}

attack('G06', 'is passed to its interpreter without a shell', { levels: EVERY_LEVEL }, async ({ job, evidence }) => {
  const code = 'print("""$(touch made) `touch made` \\\' ; rm -rf ~ \\0""")\nimport os\nprint(os.listdir("."))';
  const result = await job({ code, fileName: 'my program' });
  expect(result.stdout.text).toContain('$(touch made) `touch made`');
  expect(result.stdout.text).not.toContain("'made'");
  evidence(result.stdout.text.trim().split('\n').at(-1) ?? '');
});

attack('G07', 'writes to no working or home folder of the user', { levels: EVERY_LEVEL }, async ({ job, evidence }) => {
  const traps = [
    '.git/hooks/pre-commit',
    '.bashrc',
    '.profile',
    '.npmrc',
    '.vscode/tasks.json',
    'node_modules/.bin/tsc',
    '.ssh/authorized_keys',
    '.config/x',
  ];
  const code = `import os, json\nwritten = []\nfor base in (os.getcwd(), os.environ['HOME']):\n    for trap in ${JSON.stringify(traps)}:\n        path = os.path.join(base, trap)\n        os.makedirs(os.path.dirname(path), exist_ok=True)\n        open(path, 'w').write('planted by an attack')\n        written.append(path)\nprint(json.dumps([[os.getcwd(), os.environ['HOME']], os.listdir()]))`;
  const [first, planted] = JSON.parse((await job({ code })).stdout.text) as [string[], string[]];
  // So that a listing by the next job would show them.
  expect(planted).toEqual(expect.arrayContaining(['.bashrc', '.git', '.ssh', 'node_modules']));
  for (const path of first) expect([process.cwd(), homedir(), '/root']).not.toContain(path);
  for (const base of [process.cwd(), homedir()]) {
    for (const trap of traps) {
      const path = join(base, trap);
      if (existsSync(path)) expect(readFileSync(path, 'latin1')).not.toContain('planted by an attack');
    }
  }
  const next = await job({ language: 'bash', code: 'ls -A; echo "$HOME"' });
  expect(next.stdout.text.split('\n').slice(0, 2)).toEqual(['main.sh', 'out']);
  evidence(`HOME and working folder are the job's own (${first[0] ?? ''}); the next job found neither`);
});

attack(
  'G08',
  'is not influenced by the host’s variables for loaders and interpreters',
  { levels: BOTH },
  async ({ folder, level, evidence }) => {
    const trap = join(folder, 'trap');
    writeFileSync(
      `${trap}.cjs`,
      `require('node:fs').appendFileSync(${JSON.stringify(`${trap}.log`)}, 'node ' + process.argv.join(' ') + '\\n');`,
    );
    writeFileSync(`${trap}.sh`, `echo bash >>${trap}.log`);
    writeFileSync(`${trap}.py`, `open(${JSON.stringify(`${trap}.log`)}, 'a').write('python\\n')`);
    mkdirSync(join(folder, 'bin'));
    for (const name of ['bwrap', 'node', 'python3', 'bash', 'sh', 'mount', 'setpriv', 'env'])
      writeFileSync(join(folder, 'bin', name), `#!/bin/sh\necho ${name} >>${trap}.log\n`, { mode: 0o755 });
    const env = {
      NODE_OPTIONS: `--require=${trap}.cjs`,
      BASH_ENV: `${trap}.sh`,
      ENV: `${trap}.sh`,
      PYTHONSTARTUP: `${trap}.py`,
      PYTHONPATH: folder,
      PATH: `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}`,
      LD_LIBRARY_PATH: folder,
    };
    await plainly('bash', 'true', { env });
    await plainly('javascript', '1', { env });
    const sprung = readFileSync(`${trap}.log`, 'utf8');
    expect(sprung).toContain('bash\n');
    expect(sprung).toContain('node ');
    writeFileSync(`${trap}.log`, '');
    const jobs = (['bash', 'python', 'javascript'] as const).map((language) => ({
      language,
      isolation: level,
      code: {
        bash: 'echo "[$NODE_OPTIONS$BASH_ENV$LD_LIBRARY_PATH$PYTHONPATH]"; node -e 1; python3 -c 1; env true',
        python: 'import subprocess\nsubprocess.run(["bash", "-c", "true"])',
        javascript: '1',
      }[language],
    }));
    const { runs } = await runSeparateHost({ jobs }, { env });
    expect(runs.map((run) => run.result?.outcome)).toEqual(['succeeded', 'succeeded', 'succeeded']);
    expect(runs[0]?.result?.stdout.text).toBe('[]\n');
    // The host process itself belongs to its operator; no program that it started is affected.
    const lines = readFileSync(`${trap}.log`, 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !line.includes('host-program.mjs'));
    expect(lines).toEqual([]);
    evidence('six variables of the host have no effect on interpreters and programs of skillcell');
  },
);

attack(
  'G09',
  'has its whole tree ended at the deadline, not only the shell',
  { levels: EVERY_LEVEL },
  async ({ job, evidence }) => {
    const code = (token: string): string =>
      `exec </dev/null >/dev/null 2>&1; (bash -c 'python3 -c "import time; time.sleep(60)" ${token}; true' & ); bash -c 'python3 -c "import time; time.sleep(60)" ${token}; true'`;
    const plainToken = `tree-plain-${process.pid}-${Math.random()}`;
    expect((await plainly('bash', code(plainToken), { timeoutMs: 1_500 })).signal).toBe('SIGKILL');
    await endThoseWith(plainToken);
    const token = `tree-${process.pid}-${Math.random()}`;
    const result = await job({ language: 'bash', code: code(token), limits: { runTimeoutMs: 600, graceMs: 200 } });
    expect(result.outcome).toBe('timeout');
    // A process that the kernel is ending shows its command line for a moment.
    const shown = processesWith(token);
    const living = listProcesses().filter((row) => shown.includes(row.pid) && !isExiting(row));
    expect(living).toEqual([]);
    evidence('no process of the tree was left when the result came; plainly the grandchildren lived on');
  },
);

attack(
  'G10',
  'takes no input that is not a file or does not fit',
  { levels: EVERY_LEVEL, timeoutMs: 60_000 },
  async ({ job, folder, evidence }) => {
    const pipe = join(folder, 'pipe');
    await runCommand(['/usr/bin/mkfifo', pipe]);
    const huge = join(folder, 'huge');
    writeFileSync(huge, '');
    truncateSync(huge, 2 ** 40);
    const large = join(folder, 'large');
    writeFileSync(large, '');
    truncateSync(large, 20 * 1024 * 1024);
    symlinkSync('/dev/zero', join(folder, 'link'));
    const sources = [
      pipe,
      '/dev/zero',
      '/dev/random',
      folder,
      huge,
      large,
      join(folder, 'link'),
      join(folder, 'missing'),
      '\0',
    ];
    let refused = 0;
    for (const source of sources) {
      for (const job1 of [{ files: [{ destination: 'x', source }] as InputFile[] }, { stdin: { source } }]) {
        const elapsedMs = startQuietClock();
        await expect(job({ code: 'print(1)', ...job1, limits: { workspaceMib: 16 } }), source).rejects.toMatchObject({
          code: expect.stringMatching(/^(file\.unreadable|job\.invalid)$/),
        });
        expect(elapsedMs(), source).toBeLessThan(1_000);
        refused += 1;
      }
    }
    const both = Buffer.alloc(10 * 1024 * 1024);
    await expect(
      job({
        code: 'print(1)',
        files: [
          { destination: 'a', bytes: both },
          { destination: 'b', bytes: both },
        ],
        limits: { workspaceMib: 16 },
      }),
    ).rejects.toMatchObject({ code: 'file.unreadable' });
    await expect(job({ code: `print(${'1'.repeat(5 * 1024 * 1024)})` })).rejects.toMatchObject({ code: 'job.invalid' });
    expect(
      (
        await job({ language: 'bash', code: 'wc -c <x', files: [{ destination: 'x', source: large }] })
      ).stdout.text.trim(),
    ).toBe(`${20 * 1024 * 1024}`);
    evidence(`${refused + 2} inputs refused, each within a second`);
  },
);

attack(
  'G10',
  'has files that change during their transfer, without data of another file',
  { levels: EVERY_LEVEL },
  async ({ job, folder, evidence }) => {
    const source = join(folder, 'source');
    const secret = join(folder, 'secret');
    writeFileSync(secret, 'sentinel of the host');
    writeFileSync(source, 'x'.repeat(1_000_000));
    const running = job({ language: 'bash', code: 'wc -c <x; head -c 20 x', files: [{ destination: 'x', source }] });
    truncateSync(source, 10);
    const result = await running.catch((error: { code: string }) => error.code);
    if (typeof result === 'string') expect(['file.unreadable', 'channel.protocol', 'internal.fault']).toContain(result);
    else expect(result.stdout.text).not.toContain('sentinel');
    evidence(typeof result === 'string' ? result : result.stdout.text.replaceAll('\n', ' '));
  },
);

const PRELOAD = `
#include <stdio.h>
#include <unistd.h>
__attribute__((constructor)) static void loaded(void) {
  char name[64] = {0};
  FILE *comm = fopen("/proc/self/comm", "r");
  if (comm) { fgets(name, sizeof name, comm); fclose(comm); }
  FILE *log = fopen("loaded", "a");
  if (log) { fprintf(log, "%d %d %s", (int)getuid(), (int)getpid(), name); fclose(log); }
}
`;

attack(
  'G11',
  'has the loader’s variables only after every privilege was dropped',
  { levels: ['namespace'] },
  async ({ job, folder, evidence }) => {
    const code = 'sleep 0; cat loaded; cut -d" " -f1 /proc/mounts >/dev/null';
    const options = await job({
      language: 'bash',
      code: 'node -e 1; echo "$NODE_OPTIONS"',
      env: { NODE_OPTIONS: '--require=/workspace/trap.cjs' },
      files: [
        { destination: 'trap.cjs', bytes: Buffer.from("console.log('uid', process.getuid(), process.argv.length)") },
      ],
    });
    expect(options.stdout.text).toBe('uid 1000 1\n--require=/workspace/trap.cjs\n');
    const compiler = ['/usr/bin/gcc', '/usr/bin/cc'].find((path) => existsSync(path));
    if (compiler === undefined)
      return evidence('NODE_OPTIONS reached the user’s own node only; no compiler here for LD_PRELOAD');
    writeFileSync(join(folder, 'preload.c'), PRELOAD);
    const library = join(folder, 'preload.so');
    expect((await runCommand([compiler, '-shared', '-fPIC', '-o', library, join(folder, 'preload.c')])).code).toBe(0);
    // Plainly, the launcher that should drop privileges is the first program to load it.
    const plain = await plainly('bash', code, {
      env: { LD_PRELOAD: library },
      launcher: ['/usr/bin/setpriv', '--no-new-privs'],
    });
    expect(plain.stdout).toMatch(/ (setpriv|bash)\n/);
    const result = await job({
      language: 'bash',
      code,
      env: { LD_PRELOAD: '/workspace/preload.so' },
      files: [{ destination: 'preload.so', source: library }],
    });
    const lines = result.stdout.text.trim().split('\n');
    expect(lines.length).toBeGreaterThan(1);
    for (const line of lines) expect(line).toMatch(/^1000 \d+ (bash|sleep|cat|env)$/);
    expect(readdirSync(folder).toSorted()).toEqual(['preload.c', 'preload.so']);
    evidence(
      `loaded by ${[...new Set(lines.map((line) => line.split(' ')[2]))].join(', ')} at uid 1000 in the sandbox, by no program of skillcell`,
    );
  },
);
