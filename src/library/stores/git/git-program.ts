import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { quotedText } from '../../../contracts/text/quoted-text.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { gitEnvironment } from './git-environment.ts';
import { COMMAND_MS } from './git-limits.ts';
import { runGit } from './run-git.ts';

/** The first version that takes addresses of hosts by configuration. */
const OLDEST = { major: 2, minor: 37 };
const known = new Map<string, Promise<string>>();

/**
 * The absolute path of a git that is new enough.
 *
 * @param path folders of programs, as in the variable PATH
 * @throws SkillcellError `store.unavailable`
 */
export async function findGit(path: string = process.env['PATH'] ?? ''): Promise<string> {
  const program = path
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .map((folder) => join(folder, 'git'))
    .find(isProgram);
  if (program === undefined) throw unusable('it is not installed', path);
  const checked = known.get(program) ?? checkVersion(program);
  known.set(program, checked);
  // A refused program is checked again, as it may be replaced.
  checked.catch(() => known.delete(program));
  return await checked;
}

async function checkVersion(program: string): Promise<string> {
  const printed = await runGit({
    program,
    args: ['--version'],
    env: gitEnvironment({}),
    timeoutMs: COMMAND_MS,
    outputBytes: 1_000,
    fileBytes: 0,
    signal: undefined,
  }).catch((error: unknown) => Buffer.from(String(error)));
  const text = printed.toString('utf8').trim();
  const match = /^git version (\d{1,6})\.(\d{1,6})/.exec(text);
  const [major, minor] = [Number(match?.[1] ?? 0), Number(match?.[2] ?? 0)];
  if (major > OLDEST.major || (major === OLDEST.major && minor >= OLDEST.minor)) return program;
  throw unusable(`version ${OLDEST.major}.${OLDEST.minor} or newer is needed`, text);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    // Missing, or not executable.
    return false;
  }
}

function unusable(reason: string, got: string): SkillcellError {
  return new SkillcellError('store.unavailable', `Cannot use git: ${reason}, got ${quotedText(got)}.`, {
    hint: `Install git ${OLDEST.major}.${OLDEST.minor} or newer: \`apt-get install git\`.`,
  });
}
