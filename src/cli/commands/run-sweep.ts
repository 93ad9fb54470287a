import { SkillcellError } from '../../contracts/skillcell-error.ts';
import { sweepRunners } from '../../orchestrator/sweep-runners.ts';
import { createDockerRunner } from '../../runners/docker/docker-runner.ts';
import { createLocalRunner } from '../../runners/local/local-runner.ts';
import type { CommandContext } from '../command.ts';

/** `skillcell sweep`: removes what sandboxes of dead processes left. */
export async function runSweep({ output, json }: CommandContext): Promise<number> {
  await using local = createLocalRunner();
  await using docker = createDockerRunner();
  const summary = await sweepRunners([local, docker]);
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
