import type { RuntimeGlobals } from '../../src/contracts/jobs/globals.ts';
import type { ResultSkills } from '../../src/contracts/jobs/result.ts';
import type { SkillTrees } from '../../src/contracts/skills/skill.ts';
import type { SandboxMessage } from '../../src/protocol/messages/messages.ts';
import type { JobSurroundings } from '../run/job-surroundings.ts';
import type { RunOutcome } from '../run/run-outcome.ts';
import { runProgram } from '../run/run-program.ts';
import { skillScript } from '../run/skill-script.ts';
import { sendOutputs } from '../run/send-outputs.ts';
import { fitInputs } from './fit-inputs.ts';

/** Serves the one job of this sandbox: checks its skills, runs it, sends its outputs, and last its result. */
export async function serveJob(around: JobSurroundings): Promise<void> {
  const { globals, trees, channel } = around;
  if (globals.JOB.kind === 'codegen') {
    // Only jobs that need them load the agent and the parsers of skills. A codegen job rebuilds the skills, which checks them.
    const { serveCodegen } = await import('./serve-codegen.ts');
    return await serveCodegen(around);
  }
  if (globals.SKILLS_DESCRIPTOR !== null) {
    // The checks of skills are the larger part of the bundle; jobs without skills do not load them.
    const { requireArrived, placeSkills } = await import('./arrived-skills.ts');
    requireArrived(globals.SKILLS_DESCRIPTOR, trees);
    placeSkills(around, trees);
  }
  await fitInputs(around);
  const failed = await failedInstallation(around);
  if (failed !== undefined) return await sendOutputs(around, failed, {});
  channel.sendEvent({ type: 'skills', skills: unrenderedSkills(globals, trees) } satisfies SandboxMessage);
  if (around.session !== undefined && globals.JOB.kind === 'session') {
    const { serveSession } = await import('../session/serve-session.ts');
    return await serveSession(around, around.session);
  }
  const { script, code = '' } = globals.JOB;
  const program = script === undefined ? code : skillScript(script, around.layout);
  const outcome = await runProgram(around, 1, program, around.stdin);
  await sendOutputs(around, outcome, {});
}

/** Installs the packages of the job. Returns the outcome of the job if that failed. */
async function failedInstallation(around: JobSurroundings): Promise<RunOutcome | undefined> {
  if (around.globals.JOB.packages === undefined) return undefined;
  const { installPackages } = await import('../packages/install-packages.ts');
  return (await installPackages(around)).failed;
}

/** A job that renders nothing reports the skills that arrived complete. */
function unrenderedSkills(globals: RuntimeGlobals, trees: SkillTrees): ResultSkills {
  const descriptor = globals.SKILLS_DESCRIPTOR;
  const digest = descriptor !== null && 'digest' in descriptor ? (descriptor.digest ?? null) : null;
  return { active: [...trees.keys()], digest, instructionSha256: null };
}
