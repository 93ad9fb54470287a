import type { Program, ProgramRun } from './program.ts';

/** One difference between two runs. */
export interface Difference {
  what: string;
  plain: string;
  job: string;
}

/** Names of a job's folders at level none: the folders of the job lie below a folder of its own, and its temporary folder lies beside it. */
const OWN_FOLDERS = /(?:\/[^\s'":/]+)*\/skillcell-[\w-]+/g;

/** Lists the differences between a job and a plain run. */
export function compareRuns(program: Program, plainRun: ProgramRun, jobRun: ProgramRun): Difference[] {
  const [plain, job] = [withoutName(plainRun), withoutName(jobRun)];
  const stderrOf = program.wholeStderr ? steady : lastLine;
  const rows: Difference[] = [
    { what: 'stdout', plain: plain.stdout, job: job.stdout },
    { what: 'stderr', plain: stderrOf(plain.stderr), job: stderrOf(job.stderr) },
    { what: 'exit code', plain: `${plain.exitCode}`, job: `${job.exitCode}` },
    { what: 'signal', plain: `${plain.signal}`, job: `${job.signal}` },
    ...[...new Set([...Object.keys(plain.files), ...Object.keys(job.files)])].toSorted().map((path) => ({
      what: `file ${path}`,
      plain: contentOf(plain, path),
      job: contentOf(job, path),
    })),
  ];
  return rows.filter((row) => row.plain !== row.job);
}

function withoutName(run: ProgramRun): ProgramRun {
  const clean = (text: string): string => text.replaceAll(OWN_FOLDERS, '/skillcell-JOB');
  const files = Object.entries(run.files).map(([path, content]) => [path, clean(content)] as const);
  return { ...run, stdout: clean(run.stdout), stderr: clean(run.stderr), files: Object.fromEntries(files) };
}

function contentOf({ files }: ProgramRun, path: string): string {
  const content = files[path];
  return content === undefined ? '(missing)' : `${content.length} bytes: ${content}`;
}

function lastLine(stderr: string): string {
  return steady(stderr).trimEnd().split('\n').at(-1) ?? '';
}

/** Replaces the parts that differ from run to run: ids of processes and addresses. */
function steady(stderr: string): string {
  return stderr
    .replaceAll(/\(node:\d+\)/g, '(node:PID)')
    .replaceAll(/0x[0-9a-f]{6,}/g, '0xADDRESS')
    .replaceAll(/(: line \d+: +)\d+ /g, '$1PID ');
}
