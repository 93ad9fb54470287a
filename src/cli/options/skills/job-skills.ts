import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import type { SkillLibrary } from '../../../library/snapshot/skill-library.ts';
import type { SkillsSubsystem } from '../../../skills/load-subsystem.ts';
import { type CommandContext, flagValue, flagValues } from '../flags/command.ts';
import { bareReference, fullId, withoutRange } from '../../../skills/text/bare-reference.ts';
import { folderId } from '../../../skills/text/slug.ts';
import { frozenLockFile, unapprovedError } from './frozen-flag.ts';
import type { SkillSources } from './load-skills.ts';
import { sourcesFromFlags } from './sources-flag.ts';
import { usageError } from '../../terminal/usage-error.ts';

/**
 * Loads the skills of a job; undefined if no flag names skills and they are not needed.
 *
 * @throws SkillcellError for roots and descriptors that cannot be used, and for a consumer that the policy does not know
 */
export async function jobSkills(context: CommandContext, needed: true): Promise<SkillsSubsystem>;
export async function jobSkills(context: CommandContext, needed?: boolean): Promise<SkillsSubsystem | undefined>;
export async function jobSkills(context: CommandContext, needed = false): Promise<SkillsSubsystem | undefined> {
  const { arguments: given, io } = context;
  const [own, descriptor] = [flagValue(given, 'skills-root'), flagValue(given, 'descriptor')];
  const named =
    ['skill', 'tool'].some((name) => flagValues(given, name).length > 0) ||
    ['sources', 'select', 'match', 'root'].some((name) => given.flags.has(name));
  if (own === undefined && descriptor === undefined && !named && !needed) return undefined;
  const { loadSkills } = await import('./load-skills.ts');
  const refs = [...flagValues(given, 'skill'), ...given.operands];
  const subsystem = await loadSkills({ ...(await sourcesOf(context)), refs }, io);
  checkConsumer(flagValue(given, 'consumer'), subsystem);
  return subsystem;
}

/**
 * The skills of a long-lived command, which follows their changes. The caller closes them.
 *
 * @throws SkillcellError as `jobSkills`, and `store.unavailable`
 */
export async function followedSkills(
  context: CommandContext,
): Promise<{ skills: SkillLibrary | SkillsSubsystem } & AsyncDisposable> {
  const { followSkills } = await import('./load-skills.ts');
  const skills = await followSkills({ ...(await sourcesOf(context)), refs: [] }, context.io);
  const close = async (): Promise<void> => ('close' in skills ? await skills.close() : undefined);
  try {
    const subsystem = 'subsystem' in skills ? await skills.subsystem({ refs: [] }) : skills;
    checkConsumer(flagValue(context.arguments, 'consumer'), subsystem);
    return { skills, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function sourcesOf(context: CommandContext): Promise<Omit<SkillSources, 'refs'>> {
  const { arguments: given } = context;
  const own = flagValue(given, 'skills-root');
  const root = own ?? flagValue(given, 'root');
  return {
    root,
    rootFlag: own === undefined && root !== undefined ? '--root' : '--skills-root',
    descriptor: flagValue(given, 'descriptor'),
    names: sourcesFromFlags(given),
    frozen: await frozenLockFile(context),
  };
}

/** A misspelled consumer would see everything: if a policy names consumers, that of a job must be one of them. */
function checkConsumer(consumer: string | undefined, { agentsConfig }: SkillsSubsystem): void {
  const named = Object.keys(agentsConfig).filter((name) => name !== '*');
  if (consumer === undefined || named.length === 0 || named.includes(consumer)) return;
  throw usageError('--consumer', `the descriptor's agents_config knows ${named.join(', ')}`, consumer);
}

function isNamed(refs: readonly string[], folder: string): boolean {
  const { id } = folderId(folder);
  const names = refs.map((ref) => withoutRange(fullId(bareReference(ref))).replace(/^[^.]*\./, ''));
  return id !== '' && (names.includes(folder) || names.includes(id));
}

/**
 * Adds the faults of skills that could not be loaded to an error about references.
 *
 * @param refs the references of the caller
 */
export function explainReference(
  error: unknown,
  refs: readonly string[],
  subsystem: SkillsSubsystem | undefined,
): unknown {
  if (!SkillcellError.isInstance(error) || error.code !== 'skills.reference-unknown') return error;
  const unapproved = unapprovedError(error, refs, subsystem?.diagnostics ?? []);
  if (unapproved !== undefined) return unapproved;
  const errors = subsystem?.diagnostics.filter(({ severity }) => severity === 'error') ?? [];
  if (errors.length === 0) return error;
  // Only faults of skills with these names are about this reference; `validate` reports the rest.
  const broken = errors.filter(({ path }) => path?.split('/').some((name) => isNamed(refs, name)));
  const hint = `${error.hint} A skill that is not loaded is unknown; \`skillcell skills validate\` names its faults.`;
  return new SkillcellError(error.code, error.message, {
    cause: error,
    hint,
    diagnostics: [...error.diagnostics, ...broken],
  });
}
