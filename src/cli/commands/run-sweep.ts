import { SkillcellError } from '../../contracts/skillcell-error.ts';
import { sweepRunners } from '../../orchestrator/sweep-runners.ts';
import type { CommandContext } from '../command.ts';
import { cliRunners } from '../runners.ts';

/** `skillcell sweep`: removes what sandboxes of dead processes left. */
export async function runSweep({ io, output, json }: CommandContext): Promise<number> {
  const summary = await sweepRunners(cliRunners(io));
  const { removed, failed, skipped } = summary;
  for (const { runner, reason } of skipped) await output.note(`runner ${runner} was not swept: ${reason}`);
  const [first] = failed;
  if (first !== undefined) {
    const message = `Cannot remove everything that dead processes left: ${first.reason}, got ${first.kind} ${first.name}.`;
    throw new SkillcellError('runner.unavailable', message, {
      hint: `${removed.length} removed, ${failed.length} left. Run it again as the user that started the jobs.`,
    });
  }
  if (json) {
    await output.json(summary);
    return 0;
  }
  await output.text(
    `${removed.map(({ kind, name }) => `removed ${kind} ${name}\n`).join('')}${removed.length} removed.\n`,
  );
  return 0;
}
