import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Diagnostic } from '../../../contracts/errors/diagnostic.ts';
import type { SkillTree } from '../../../contracts/skills/skill.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { addSkills } from '../../../library/install/add-skills.ts';
import { SKILLS_LOCK_FILE } from '../../../library/lock/format/skills-lock.ts';
import { assertThere } from '../../../library/sources/assert-there.ts';
import { chooseSkills } from '../../../library/sources/choose-skills.ts';
import { libraryDiagnostic } from '../../../contracts/errors/library-diagnostic.ts';
import { findInSource, type FoundSkill } from '../../../library/sources/find-in-source.ts';
import { parseSource } from '../../../library/sources/parse-source.ts';
import { scanTree, type TreeScan } from '../../../scan/scan-tree.ts';
import { bodyTokens } from '../../../skills/catalog/catalog-entry.ts';
import { oneLine } from '../../../skills/text/text.ts';
import type { TreeCache } from '../../../library/stores/cache/tree-cache.ts';
import { type CommandContext, flagValues } from '../../options/flags/command.ts';
import { tokensFromFlags } from '../../options/flags/credential-flag.ts';
import { lockPlace, makeLockFolder } from '../../options/skills/lock-place.ts';
import { privateHosts } from '../../options/flags/private-hosts.ts';
import { shownPlace } from '../../options/skills/shown-place.ts';
import { withCache } from '../../options/skills/with-cache.ts';
import { noteDiagnostics } from '../../options/skills/skills-context.ts';
import { findingText } from '../../terminal/finding-text.ts';
import { diagnosticLine } from '../../terminal/diagnostic-line.ts';
import { escapeLine } from '../../terminal/escape-controls.ts';
import { quoted } from '../../terminal/usage-error.ts';

/** `skillcell skills add`: adds skills from a source, or lists the skills of the source. */
export async function runAdd(context: CommandContext): Promise<number> {
  return await withCache(context.io, async (cache) => await add(context, cache));
}

async function add(context: CommandContext, cache: TreeCache): Promise<number> {
  const { arguments: given, io, output, json, interruption } = context;
  const [source = ''] = given.operands;
  const place = lockPlace(context);
  const spec = parseSource(source, io.cwd());
  assertThere(spec, source);
  const { signal } = interruption;
  const lockFolder = dirname(place.lockFile);
  const nested = given.flags.has('nested');
  const found = await findInSource(spec, {
    cache,
    lockFolder,
    nested,
    allowPrivate: privateHosts(io),
    tokens: tokensFromFlags(context),
    signal,
  });
  if (given.flags.has('list')) return await list(context, found.skills, found.diagnostics);
  if (!json) await noteDiagnostics(context, found.diagnostics);
  if (found.skills.length + found.refused.length === 0)
    throw new SkillcellError(
      'source.refused',
      `Cannot add skills: the source holds no skill that can be taken, got ${quoted(source)}.`,
    );
  const chosen = chooseSkills(found, flagValues(given, 'skill'));
  makeLockFolder(place);
  const added = await addSkills(chosen, { ...place, force: given.flags.has('force'), signal });
  const beside = otherLock(place.lockFile);
  if (json) await output.json({ skills: added, diagnostics: [...found.diagnostics, ...beside] });
  else {
    for (const { id, place: where, state } of added)
      await output.text(`${state} ${id} in ${shownPlace(where, place.lockFile, io)}\n`);
    await noteDiagnostics(context, beside);
  }
  return 0;
}

function otherLock(lockFile: string): Diagnostic[] {
  if (!existsSync(join(dirname(lockFile), SKILLS_LOCK_FILE))) return [];
  const message = `The skills of ${SKILLS_LOCK_FILE} are not in ${basename(lockFile)} unless they are added; verify compares those of both.`;
  return [libraryDiagnostic('lock.beside', message, { path: SKILLS_LOCK_FILE })];
}

async function list(
  { output, json }: CommandContext,
  skills: readonly FoundSkill[],
  diagnostics: readonly Diagnostic[],
): Promise<number> {
  const rows = skills.map(({ skill, origin, read }) => ({
    id: skill.id,
    version: skill.fields.version ?? null,
    description: oneLine(skill.fields.description ?? ''),
    folder: origin.folder,
    plugin: origin.plugin ?? null,
    digest: skill.digest,
    tokens: bodyTokens(skill),
    ...scanned(read()),
  }));
  if (json) {
    await output.json({ skills: rows, diagnostics });
    return 0;
  }
  for (const { id, version, description, folder, plugin, digest, tokens, findings, unscanned } of rows) {
    const lines = [
      `${id}${version === null ? '' : ` v${oneLine(version)}`}`,
      `  ${description}`,
      `  folder: ${folder}`,
      ...(plugin === null ? [] : [`  plugin: ${plugin}`]),
      `  digest: ${digest}`,
      `  tokens: ~${tokens}`,
      ...findings.map((found) => `  ${findingText(found)}`),
      ...unscanned.map(({ path, bytes, reason }) => `  unscanned ${path}: ${bytes} bytes, ${reason}`),
    ];
    await output.text(`${lines.map(escapeLine).join('\n')}\n`);
  }
  for (const found of new Set(diagnostics.map(diagnosticLine))) await output.text(`${found}\n`);
  return 0;
}

function scanned(tree: SkillTree): Pick<TreeScan, 'findings' | 'unscanned'> {
  const { findings, unscanned } = scanTree(tree);
  return { findings, unscanned };
}
