import { type CommandContext, flagValue } from '../../options/flags/command.ts';
import { parseNumber } from '../../options/flags/parse-number.ts';
import { openSkills } from '../../options/skills/skills-context.ts';
import { escapeLine } from '../../terminal/escape-controls.ts';

const MOST = { minimum: 1, maximum: 1_000, unit: 'skills' };

/** `skillcell skills match`: says which skills a text calls for, by which triggers, and how much to disclose. */
export async function runMatch(context: CommandContext): Promise<number> {
  const { arguments: given, output, json } = context;
  const most = flagValue(given, 'max');
  const max = most === undefined ? undefined : parseNumber('--max', most, MOST);
  const { subsystem, consumer, tools } = await openSkills(context);
  const result = subsystem.match(given.operands[0] ?? '', { consumer, tools, max });
  if (json) {
    await output.json(result);
    return 0;
  }
  const lines = result.matches.map(({ id, hits }) => `${id}  ${escapeLine(hits.join(', '))}\n`);
  await output.text(`tier ${result.tier}\n${lines.join('')}${result.text ?? ''}`);
  for (const { id, reason } of result.leftOut) await output.note(`${id} would match and is left out: ${reason}.`);
  return 0;
}
