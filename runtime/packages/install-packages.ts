import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { diagnostic, type Diagnostic } from '../../src/contracts/errors/diagnostic.ts';
import { SkillcellError } from '../../src/contracts/errors/skillcell-error.ts';
import type { InstalledPackage } from '../../src/contracts/network/job-packages.ts';
import type { ByteWriter } from '../../src/protocol/channel/channel.ts';
import type { SandboxMessage } from '../../src/protocol/messages/messages.ts';
import { clearTemporary } from '../files/clear-attempt.ts';
import { makeManifest } from '../network/make-manifest.ts';
import { networkVariables } from '../network/network-variables.ts';
import type { JobSurroundings } from '../run/job-surroundings.ts';
import { makeUserFolders, programVariables } from '../run/program/place-program.ts';
import { runCode } from '../run/run-code.ts';
import { emptyRun, type RunOutcome } from '../run/run-outcome.ts';
import { programSubject } from '../run/run-program.ts';
import { type Installer, npmInstaller, pypiInstaller, pythonFolder } from './installers.ts';

/** Time in which the memory of the installers must be freed. */
const GONE_TIMEOUT_MS = 5_000;
/** Bytes of the output of an installer in an error. */
const KEPT_BYTES = 8 * 1024;
const FOLDER = '.install';
const NAMED_SCRIPTS = 20;

/** The installation of the packages of a job. */
export interface Installation {
  packages: InstalledPackage[];
  /** The outcome of the job, if an installer failed: its program does not run. */
  failed?: RunOutcome;
}

/**
 * Installs the packages of a job, with the rights and the limits of user code, and ends the way to the registries. Programs that begin later
 * find them.
 *
 * @throws SkillcellError `packages.unavailable`
 */
export async function installPackages(around: JobSurroundings): Promise<Installation> {
  const { globals, layout, privileges, channel, processes, found } = around;
  const asked = globals.JOB.packages;
  if (asked === undefined) return { packages: [] };
  const temporary = join(layout.temporary, FOLDER);
  const report = join(temporary, 'report.json');
  const seenHere = layout.level === 'namespace' ? join('/inner', report) : report;
  const installers = [
    ...(asked.npm.length > 0 ? [npmInstaller(layout, asked.npm)] : []),
    ...(asked.pypi.length > 0 ? [pypiInstaller(layout, asked.pypi, { seenByUser: report, seenHere })] : []),
  ];
  for (const { registry, command } of installers) if (command === undefined) throw missing(registry);
  privileges.asUser(() => {
    makeUserFolders(layout);
    if (asked.npm.length > 0) makeManifest(layout);
    if (asked.pypi.length > 0) mkdirSync(pythonFolder(layout), { recursive: true });
  });
  const packages: InstalledPackage[] = [];
  for (const installer of installers) {
    const { outcome, output } = await runInstaller(around, installer, temporary);
    await processes.gone(GONE_TIMEOUT_MS);
    const rows = privileges.asUser(() => installer.rows());
    privileges.asUser(() => clearTemporary(layout));
    privileges.restore();
    if (outcome.outcome !== 'succeeded') {
      if (installer.isMissing(output)) throw missing(installer.registry);
      return { packages: [], failed: failure(outcome, installer, output) };
    }
    if (rows.fault !== undefined)
      return { packages: [], failed: failure({ ...outcome, outcome: 'failed' }, installer, rows.fault) };
    packages.push(...rows.packages);
    if (rows.scripts.length > 0) found.push(skipped(rows.scripts));
  }
  if (asked.pypi.length > 0) {
    const { PYTHONPATH: own = '' } = globals.JOB.env;
    globals.JOB.env = { ...globals.JOB.env, PYTHONPATH: [own, pythonFolder(layout)].filter(Boolean).join(':') };
  }
  channel.send({ type: 'installed', packages } satisfies SandboxMessage);
  return { packages };
}

/** Runs an installer like a program of bash, with an environment of its own. */
async function runInstaller(
  around: JobSurroundings,
  { command = [] }: Installer,
  temporary: string,
): Promise<{ outcome: RunOutcome; output: string }> {
  const { globals, layout, marker } = around;
  const { JOB } = globals;
  const executor = around.takeExecutor('bash');
  const tail = keepTail();
  const env = {
    ...networkVariables(JOB.packages?.network, layout),
    ...programVariables(layout, marker, {}),
    ...SETTINGS,
    // Only the packages stay in the workspace.
    HOME: temporary,
    npm_config_cache: join(temporary, 'npm'),
  };
  const job = { ...JOB, args: ['install', temporary, ...command], expect: [] };
  const limits = { ...JOB.limits, keptOutputBytes: JOB.limits.totalOutputBytes };
  await Promise.race([executor.waiting, executor.ended]);
  around.privileges.restore();
  const subject = programSubject(
    {
      executor,
      script: { folder: layout.workspace, name: '', interpreter: ['bash', '-c'] },
      path: 'mkdir -p -- "$1" && shift && exec "$@"',
      fileName: 'install',
      env,
      stdin: undefined,
      writers: { stdout: tail.writer, stderr: tail.writer },
    },
    { ...around, globals: { ...globals, JOB: job } },
  );
  const { outcome } = await runCode(subject, limits, around);
  return { outcome, output: tail.text() };
}

/** Settings of installers that are not in a file. Older npm ignores those that it does not know. The host refuses other hosts, with a better reason. */
const SETTINGS: Readonly<Record<string, string>> = {
  NODE_NO_WARNINGS: '1',
  npm_config_allow_git: 'none',
  npm_config_allow_file: 'none',
  npm_config_allow_directory: 'none',
  npm_config_fetch_retry_mintimeout: '1000',
  npm_config_progress: 'false',
  npm_config_update_notifier: 'false',
  PIP_CONFIG_FILE: '/dev/null',
  PIP_RETRIES: '2',
  PIP_PROGRESS_BAR: 'off',
};

/** Keeps the last bytes of an output, which name the reason of a failure. */
function keepTail(): { writer: ByteWriter; text(): string } {
  let kept = Buffer.alloc(0);
  return {
    writer: {
      write: async (chunk) => {
        kept = Buffer.concat([kept, chunk]).subarray(-KEPT_BYTES);
      },
      end: () => undefined,
    },
    text: () => kept.toString('utf8').trim(),
  };
}

function failure(run: RunOutcome, { registry }: Installer, output: string): RunOutcome {
  const { outcome, limit, error, diagnostics, runMs } = run;
  const reason = outcome === 'failed' ? output : (error?.message ?? output).replace(/^The program/, 'The installer');
  const message = `The packages of ${registry} could not be installed: ${reason || 'the installer printed nothing'}`;
  return {
    ...emptyRun([]),
    outcome,
    ...(limit === undefined ? {} : { limit }),
    error: { name: outcome === 'timeout' ? (error?.name ?? 'InstallError') : 'InstallError', message, stack: '' },
    diagnostics,
    runMs,
  };
}

function missing(registry: InstalledPackage['registry']): SkillcellError {
  const tool = registry === 'npm' ? 'npm' : 'pip';
  return new SkillcellError(
    'packages.unavailable',
    `Cannot install the packages of ${registry}: the sandbox has no ${tool}.`,
  );
}

function skipped(names: readonly string[]): Diagnostic {
  const shown = names.slice(0, NAMED_SCRIPTS).join(', ');
  const more = names.length > NAMED_SCRIPTS ? `, and ${names.length - NAMED_SCRIPTS} more` : '';
  return diagnostic('packages.scripts-skipped', `Install scripts were not run: those of ${shown}${more}.`);
}
