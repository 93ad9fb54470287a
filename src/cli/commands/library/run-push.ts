import { statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { archiveRefused } from '../../../archives/checks/archive-refused.ts';
import { onlySkill, openArchive } from '../../../archives/open-archive.ts';
import { readArchiveFile } from '../../../archives/read-archive-file.ts';
import { skillName } from '../../../archives/skill-name.ts';
import { pushSkill } from '../../../client/push-skill.ts';
import type { Diagnostic } from '../../../contracts/errors/diagnostic.ts';
import { type CommandContext, flagValue } from '../../options/flags/command.ts';
import { serviceFromFlags } from '../../options/serving/service-flag.ts';
import { diagnosticLine } from '../../terminal/diagnostic-line.ts';
import { escapeLine } from '../../terminal/escape-controls.ts';
import { findingText } from '../../terminal/finding-text.ts';
import { checkInputFile } from '../../terminal/input-file.ts';
import { usageError } from '../../terminal/usage-error.ts';
import { packFolder } from './run-pack.ts';

/** `skillcell skills push`. */
export async function runPush(context: CommandContext): Promise<number> {
  const { arguments: given, output, json, interruption } = context;
  const service = serviceFromFlags(context);
  if (service === undefined) throw usageError('--server', 'it must name the service', '');
  const [shown = ''] = given.operands;
  const { signal } = interruption;
  try {
    const { bytes, file, diagnostics } = await archiveAt(shown, context);
    const name = flagValue(given, 'name') ?? skillName(onlySkill(await openArchive(bytes, { signal })).folder, file);
    const push = { bytes, file, name, isPublic: given.flags.has('public'), signal };
    const pushed = await pushSkill(service, push);
    const found = [...diagnostics, ...pushed.diagnostics];
    if (json) {
      await output.json({ ...pushed, diagnostics: found });
      return 0;
    }
    for (const each of found) await output.note(diagnosticLine(each));
    for (const finding of pushed.findings) await output.note(escapeLine(findingText(finding)));
    for (const { path, state } of pushed.changes) await output.note(escapeLine(`${state}: ${path}`));
    await output.text(escapeLine(`${pushed.name}: ${pushed.state}, id ${pushed.id}, ${pushed.digest}`) + '\n');
    return 0;
  } catch (error) {
    throw archiveRefused(error, JSON.stringify(shown), 'push the skill');
  }
}

/** The archive of an operand: a file, or a folder that is packed. */
async function archiveAt(
  path: string,
  { io }: CommandContext,
): Promise<{ bytes: Uint8Array; file: string; diagnostics: Diagnostic[] }> {
  const place = resolve(io.cwd(), path);
  if (statSync(place, { throwIfNoEntry: false })?.isDirectory() === true) {
    const { archive, diagnostics } = await packFolder(place, path, { store: false });
    return { bytes: archive, file: `${basename(place)}.skill`, diagnostics };
  }
  const { source } = checkInputFile('DIR|ZIP', path, io);
  return { bytes: (await readArchiveFile(source)).bytes, file: basename(source), diagnostics: [] };
}
