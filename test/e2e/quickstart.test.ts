import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { drawChart } from '../../examples/quickstart/draw-chart.ts';
import { resolveFootnotes } from '../../examples/quickstart/resolve-footnotes.ts';
import { AIMS, tryToReach } from '../../examples/quickstart/try-to-reach.ts';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import { createLocalRunner } from '../../src/sandboxes/local/local-runner.ts';
import { MISSING_PYTHON, requireHere } from '../fixtures/describe-with.ts';
import { dockerImage, dockerTest } from '../fixtures/docker-image.ts';
import { IS_SAMPLE } from '../fixtures/share.ts';
import { withoutBubblewrap } from '../fixtures/without-bubblewrap.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const program = join(root, 'examples/quickstart/quickstart.ts');
const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], DOCKER_HOST: process.env['DOCKER_HOST'] };
const TIMEOUT_MS = 120_000;

/** Runs a command with a pipe of 4 KiB as its stdout. Reads nothing for three seconds, and then everything. */
const SLOW_READER = `
import fcntl, os, shutil, subprocess, sys, time
read, write = os.pipe()
fcntl.fcntl(write, 1031, 4096)
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=write)
os.close(write)
time.sleep(3)
shutil.copyfileobj(open(read, 'rb'), sys.stdout.buffer)
sys.exit(child.wait())`;

/** The text between two titles. */
function part(text: string, number: number): string {
  const from = text.indexOf(`\n${number}  `);
  const to = text.indexOf(`\n${number + 1}  `);
  return text.slice(from, to < 0 ? undefined : to);
}

describe('the quick start', () => {
  it('shows refusals, a comparison, a chart and a report with footnotes', { timeout: TIMEOUT_MS }, async () => {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [program], { cwd: root, env });
    expect(stderr).toBe('');
    // The program reaches all three targets if nothing isolates it.
    const [plain, asJob] = [34, 64].map((column) =>
      part(stdout, 1)
        .split('\n')
        .map((line) => line.slice(column))
        .join('\n'),
    );
    expect(plain?.match(/^REACHED: /gm)).toHaveLength(3);
    if (/isolation level none/.test(stdout)) {
      expect(asJob).toMatch(/^REACHED: /m);
      expect(stdout).toContain('as a job, unisolated');
    } else {
      expect(asJob?.match(/^refused: /gm)).toHaveLength(3);
      expect(asJob).not.toContain('REACHED');
      expect(asJob).toContain('none');
    }

    const compared = part(stdout, 2);
    expect(compared).toContain('two recorded answers, made for this example, are replayed');
    const cells = (name: string): string[] | undefined =>
      new RegExp(`^${name} {2,}(.*)$`, 'm').exec(compared)?.[1]?.split(/ {2,}/);
    expect(cells('skills in it')).toEqual(['public.chart', 'internal.link-evidence,']);
    for (const name of [
      'Prompt',
      'Report',
      'numbers with an uncertainty',
      'sample sizes',
      'statements with a source',
    ]) {
      const [without = Number.NaN, with_ = Number.NaN] = (cells(name) ?? []).map((cell) =>
        Number(cell.replace(/\D/g, '')),
      );
      expect(with_, name).toBeGreaterThan(without);
    }

    const shown = part(stdout, 3);
    expect(shown.match(/^.*[\u2801-\u28ff]{3}.*$/gm)?.length).toBeGreaterThan(10);
    expect(shown).toMatch(/apart \[1\]/);
    expect(shown).toMatch(/^\[1\] M\. Okabe.*Color Universal Design/m);
    for (const name of ['report.md', 'chart.svg'])
      expect(
        existsSync(
          join(
            root,
            /^\S+(?= \()/m.exec(shown.slice(shown.lastIndexOf(`\n`, shown.indexOf(`${name} (`)) + 1))?.[0] ?? '',
          ),
        ),
      ).toBe(true);
    expect(stdout).not.toContain('[[S:');
    expect(stdout).not.toMatch(/^\s*[[{]\s*["{[]/m);
    // A pipe gets no terminal codes.
    expect(stdout).not.toContain('\u001b');
  });

  // The others stand in this file, because they write the same folder.
  if (IS_SAMPLE) return;
  it(
    'prints the same through npm start to a small pipe with a slow reader',
    { timeout: TIMEOUT_MS },
    async (context) => {
      requireHere(context, MISSING_PYTHON);
      // Masks times, and the columns that their digits move.
      const fixed = (printed: string): string => printed.replaceAll(/[\d.]*\d|\s+/g, ' ').replaceAll(/ +/g, ' ');
      const { stdout } = await promisify(execFile)(process.execPath, [program], { cwd: root, env });
      const slow = spawn('/usr/bin/python3', ['-c', SLOW_READER, process.execPath, 'scripts/run.js', 'start'], {
        cwd: root,
        env,
      });
      expect(fixed(await text(slow.stdout))).toBe(fixed(stdout));
    },
  );

  dockerTest('is isolated by the engine where bubblewrap is missing', {}, async (context) => {
    await dockerImage();
    const { code, stdout, stderr } = await withoutBubblewrap(context, ['examples/quickstart/quickstart.ts'], {
      SKILLCELL_MODEL: '',
    });
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/docker runner at\s+isolation\s+level\s+container/);
  });

  it('links to its files on a terminal', { timeout: TIMEOUT_MS }, async (context) => {
    requireHere(context, existsSync('/usr/bin/script') ? undefined : 'script (apt-get install bsdutils)');
    const command = `'${process.execPath}' '${program}'`;
    const { stdout } = await promisify(execFile)('/usr/bin/script', ['-qec', command, '/dev/null'], { cwd: root, env });
    const opened = stdout.split('\u001b').find((each) => each.startsWith(']8;;file:') && each.endsWith('chart.svg'));
    expect(existsSync(fileURLToPath(opened?.slice(4) ?? 'file:///none'))).toBe(true);
    expect(stdout).toContain('\\examples/quickstart/output/chart.svg\u001b]8;;\u001b\\');
  });

  it('ends with 130 after an interrupt, in either part', { timeout: TIMEOUT_MS }, async () => {
    for (const [title, next] of [
      ['\n1  ', '\n2  '],
      ['\n2  ', '\n3  '],
    ] as const) {
      const child = spawn(process.execPath, [program], { cwd: root, env });
      let stdout = '';
      child.stdout.on('data', (chunk: Buffer) => {
        const before = stdout.includes(title);
        stdout += chunk.toString();
        if (!before && stdout.includes(title)) child.kill('SIGINT');
      });
      const [[code, signal], stderr] = await Promise.all([once(child, 'close'), text(child.stderr)]);
      expect({ code: code as unknown, signal: signal as unknown, stderr }).toEqual({
        code: 130,
        signal: null,
        stderr: '',
      });
      expect(stdout).not.toContain(next);
    }
  });

  it('reports the reached targets without isolation', { timeout: TIMEOUT_MS }, async () => {
    await using orchestrator = createOrchestrator({ runners: [createLocalRunner()] });
    const trial = await tryToReach(orchestrator, { isolation: 'none' });
    for (const aim of AIMS) expect(trial.job?.[aim], aim).toMatchObject({ reached: true });
    expect(trial.job?.key.says).toMatch(/^in process \d+$/);
    expect(trial.requests).toEqual({ plain: 1, job: 1 });
  });
});

describe('drawChart()', () => {
  const svg = (content: string): string => `<svg viewBox="0 0 80 40">${content}</svg>`;
  const draw = (content: string): string[] | undefined => drawChart(svg(content), 8, (text) => `<${text}>`);

  it('draws lines, bars and texts at their positions', () => {
    expect(draw('<line x1="0" y1="0" x2="79" y2="0" stroke="#000"/>')).toEqual(['⠉⠉⠉⠉⠉⠉⠉⠉', '']);
    expect(draw('<path d="M0 0V39h79" stroke="#777"/>')).toEqual(['⡇', '⣇⣀⣀⣀⣀⣀⣀⣀']);
    expect(draw('<rect x="40" y="20" width="20" height="20" fill="#0072B2"/>')).toEqual(['', '    <⣿⣿>']);
    expect(
      draw('<rect width="80" height="20"/><text x="80" y="20" text-anchor="end" dy="0.3em">a&amp;b</text>'),
    ).toEqual(['⣿⣿⣿⣿⣿⣿⣿⣿', '     a&b']);
  });

  it('leaves out background and grid, and shapes without a place', () => {
    expect(draw('<rect width="80" height="40" fill="#fff"/><line x1="0" y1="0" x2="9" y2="9" stroke="#ddd"/>')).toBe(
      undefined,
    );
    expect(draw('<g transform="scale(2)"><line x1="0" y1="0" x2="9" y2="9" stroke="#000"/></g>')).toBe(undefined);
    expect(drawChart('no picture', 8, String)).toBe(undefined);
  });
});

describe('resolveFootnotes()', () => {
  const sources = [3, 4, 7].map((sid) => ({ sid, title: `Title ${sid}`, url: `https://example.org/${sid}` }));

  it('numbers citations in order, and drops the list that they replace', () => {
    const report = '# T\n\nB [[S:7]], a [[S:3-4]], b again [[S:7]], none [[S:9]].\n\n## Sources\n\n- [[S:7]] Title 7\n';
    expect(resolveFootnotes(report, sources)).toEqual({
      text: '# T\n\nB [1], a [2][3], b again [1], none .',
      footnotes: [
        '[1] Title 7, https://example.org/7',
        '[2] Title 3, https://example.org/3',
        '[3] Title 4, https://example.org/4',
      ],
    });
  });
});
