import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { sweepRunners } from '../../../jobs/sweep-runners.ts';
import type { CommandContext } from '../../options/flags/command.ts';
import { cliRunners } from '../../job/runners.ts';
import { escapeLine } from '../../terminal/escape-controls.ts';

/**
 * `skillcell sweep`: removes the leftovers of sandboxes whose processes died.
 *
 * @throws SkillcellError when something could not be removed, or a runner could not be reached
 */
export async function runSweep({ io, output, json }: CommandContext): Promise<number> {
  const summary = await sweepRunners(cliRunners(io));
  const { removed, failed, skipped } = summary;
  for (const { runner, reason } of skipped) await output.note(`runner ${runner} was not swept: ${reason}`);
  const [first] = failed;
  if (first !== undefined) {
    const reason = first.reason.replace(/\.$/, '');
    const message = `Cannot remove all leftovers of dead processes: ${first.kind} ${first.name}: ${reason}.`;
    const left = first.kind === 'runner' ? 'the rest is unknown' : `${failed.length} left`;
    const advice = first.kind === 'runner' ? 'once it answers' : 'as the user that started the jobs';
    throw new SkillcellError('runner.unavailable', message, {
      hint: `${removed.length} removed, ${left}. Run it again ${advice}.`,
    });
  }
  if (json) {
    await output.json(summary);
    return 0;
  }
  await output.text(
    `${removed.map(({ kind, name }) => `${escapeLine(`removed ${kind} ${name}`)}\n`).join('')}${removed.length} removed.\n`,
  );
  return 0;
}
