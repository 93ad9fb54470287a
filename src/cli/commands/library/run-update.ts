import { findUpdates, type SkillUpdate, takeUpdates } from '../../../library/install/update-skills.ts';
import type { TreeCache } from '../../../library/stores/cache/tree-cache.ts';
import { BUILTIN_FOLDER } from '../../options/skills/builtin-folder.ts';
import type { CommandContext } from '../../options/flags/command.ts';
import { tokensFromFlags } from '../../options/flags/credential-flag.ts';
import { existingLock } from '../../options/skills/existing-lock.ts';
import { deviationLine } from '../../terminal/deviation-line.ts';
import { privateHosts } from '../../options/flags/private-hosts.ts';
import { findingText } from '../../terminal/finding-text.ts';
import { withCache } from '../../options/skills/with-cache.ts';
import { diagnosticLine } from '../../terminal/diagnostic-line.ts';
import { escapeControls, escapeLine } from '../../terminal/escape-controls.ts';

/** `skillcell skills update`: prints the changes, then takes them. */
export async function runUpdate(context: CommandContext): Promise<number> {
  return await withCache(context.io, async (cache) => await update(context, cache));
}

async function update(context: CommandContext, cache: TreeCache): Promise<number> {
  const { arguments: given, output, json, interruption } = context;
  const options = {
    lockFile: existingLock(context),
    refs: given.operands,
    cache,
    builtinFolder: BUILTIN_FOLDER,
    allowPrivate: privateHosts(context.io),
    tokens: tokensFromFlags(context),
    force: given.flags.has('force'),
    signal: interruption.signal,
  };
  const updates = await findUpdates(options);
  const dryRun = given.flags.has('dry-run');
  if (!json) for (const update of updates) await output.text(describe(update));
  const taken = dryRun ? [] : await takeUpdates(updates, options);
  if (json)
    await output.json({ dryRun, skills: updates.map((each) => ({ ...row(each), updated: taken.includes(each.id) })) });
  else if (!dryRun)
    for (const { id } of updates.filter(isChanged))
      await output.text(
        taken.includes(id) ? `updated ${id}; it is not approved\n` : `left ${id}: it was changed meanwhile\n`,
      );
  return updates.some(({ state }) => state === 'gone') ? 1 : 0;
}

function isChanged({ state }: SkillUpdate): boolean {
  return state === 'changed';
}

function row({ id, state, locked, found, difference, deviations, diagnostics }: SkillUpdate): object {
  return {
    id,
    state,
    from: { version: locked.version, digest: locked.digest, commit: locked.origin.commit ?? null },
    to:
      found === undefined
        ? null
        : {
            version: found.skill.fields.version ?? null,
            digest: found.skill.digest,
            commit: found.origin.commit ?? null,
          },
    difference: difference ?? null,
    deviations,
    diagnostics,
  };
}

function describe(update: SkillUpdate): string {
  const { id, state, found, difference, deviations, diagnostics } = update;
  const here = deviations.map((each) => `  not as locked here: ${deviationLine(each)}`);
  if (found === undefined)
    return [`${id}: gone from its source`, ...here, ...diagnostics.map((one) => `  ${diagnosticLine(one)}`), ''].join(
      '\n',
    );
  if (difference === undefined) return [`${id}: ${state}`, ...here, ''].join('\n');
  return [...describeDifference(update, found, difference), ...here, ''].join('\n');
}

function describeDifference(
  { id, locked }: SkillUpdate,
  found: NonNullable<SkillUpdate['found']>,
  difference: NonNullable<SkillUpdate['difference']>,
): string[] {
  const [from, to] = [locked.version, found.skill.fields.version ?? null].map((version) => version ?? 'no version');
  const lines = [
    `${id}: ${from} → ${to}`,
    `  digest ${locked.digest} → ${found.skill.digest}`,
    ...difference.tools.added.map((tool) => `  tool + ${tool}`),
    ...difference.tools.removed.map((tool) => `  tool - ${tool}`),
    ...difference.findings.added.map((found) => `  finding + ${findingText(found)}`),
    ...difference.findings.removed.map((found) => `  finding - ${findingText(found)}`),
  ].map(escapeLine);
  for (const { path, state: change, executable, lines: text } of difference.files) {
    const mode = executable === undefined ? '' : executable ? ', executable' : ', no longer executable';
    lines.push(escapeLine(`  ${change} ${path}${mode}${text === undefined ? ', no text to compare' : ''}`));
    for (const line of text?.trimEnd().split('\n') ?? []) if (line !== '') lines.push(escapeControls(`    ${line}`));
  }
  return lines;
}
