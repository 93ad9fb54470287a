import { basename, dirname } from 'node:path';
import { MAX_SESSION_MS, type Session, type SessionOptions } from '../../../contracts/jobs/session.ts';
import { DEFAULT_LIMITS } from '../../../contracts/jobs/limits.ts';
import { DEFAULT_LANGUAGE } from '../../../contracts/jobs/language.ts';
import { createOrchestrator } from '../../../jobs/create-orchestrator.ts';
import type { Orchestrator } from '../../../jobs/orchestrator.ts';
import { readArchive } from '../../../jobs/session/read-archive.ts';
import { writeBeneath } from '../../../durable/write-beneath.ts';
import { jobRunners } from '../../job/runners.ts';
import { type CommandContext, flagValue, flagValues } from '../../options/flags/command.ts';
import { jobOptions } from '../../options/job-options.ts';
import { networkFromFlags } from '../../options/network/network-from-flags.ts';
import { explainReference, jobSkills } from '../../options/skills/job-skills.ts';
import { noteLeftOut } from '../../options/skills/note-left-out.ts';
import { mcpToolsFromFlag } from '../../options/flags/mcp-flag.ts';
import { outputFile } from '../../options/places/output-file.ts';
import { readCells } from '../../repl/read-cells.ts';
import { runCells } from '../../repl/run-cells.ts';
import { readInputFile } from '../../terminal/input-file.ts';
import { writeFailed } from '../../../durable/write-failed.ts';

const MIB = 1024 * 1024;
/** Time limit for saving an interrupted session. */
const SAVE_MS = 30_000;

/** `skillcell repl`: runs typed or piped code, piece by piece, in one session. */
export async function runRepl(context: CommandContext): Promise<number> {
  const { io, output, interruption, json, arguments: given } = context;
  const sessionFlags = await sessionOptions(context);
  using network = await networkFromFlags(context);
  const options = { ...sessionFlags, ...network.job };
  const skills = await jobSkills(context);
  const target = flagValue(given, 'session-out');
  const archive = target === undefined ? undefined : outputFile(target, io, '--session-out');
  if (archive !== undefined) interruption.allow(SAVE_MS);
  await using mcp = await mcpToolsFromFlag(context);
  const host = { tools: mcp.tools, ...network.host, ...(skills === undefined ? {} : { skills }) };
  const orchestrator = createOrchestrator({ ...host, runners: await jobRunners(context) });
  const settleUrgent = interruption.onUrgent(() => orchestrator.close());
  try {
    const session = await openSession(orchestrator, options, interruption.signal).catch((error: unknown) => {
      throw explainReference(error, flagValues(given, 'skill'), skills);
    });
    if (skills !== undefined)
      await noteLeftOut(context, flagValues(given, 'skill'), skills, { consumer: options.skills?.consumer });
    if (!json) await output.note(`runner ${session.runner}, isolation ${session.isolation}; .help lists the commands`);
    const cells = readCells(io, options.language ?? DEFAULT_LANGUAGE, interruption.signal);
    cells.interrupt = () => session.interrupt();
    const runs = await runCells(cells, session, { output, json, signal: interruption.signal });
    if (archive !== undefined) {
      const { archive: bytes, omitted } = await session.export();
      await save(archive, bytes);
      for (const { path, reason } of omitted) await output.note(`omitted: ${path} (${reason})`);
    }
    const result = await session.close();
    if (json) await output.json({ runs, result });
    return runs.every(({ outcome }) => outcome === 'succeeded') && result.outcome === 'succeeded' ? 0 : 1;
  } finally {
    await orchestrator.close();
    settleUrgent();
  }
}

/** @throws SkillcellError `artifact.write-failed` */
async function save(path: string, bytes: Uint8Array): Promise<void> {
  try {
    await writeBeneath(dirname(path), basename(path), bytes);
  } catch (cause) {
    throw writeFailed('write the working folder', path, cause);
  }
}

/** An interruption ends a session that is still opening; an open session is saved first. */
async function openSession(
  orchestrator: Orchestrator,
  options: SessionOptions,
  interrupted: AbortSignal,
): Promise<Session> {
  const opening = new AbortController();
  const cancel = (): void => opening.abort(interrupted.reason);
  interrupted.addEventListener('abort', cancel, { once: true });
  try {
    interrupted.throwIfAborted();
    return await orchestrator.session({ ...options, signal: opening.signal });
  } finally {
    interrupted.removeEventListener('abort', cancel);
    interrupted.throwIfAborted();
  }
}

async function sessionOptions(context: CommandContext): Promise<SessionOptions> {
  const { arguments: given, io } = context;
  const { runner, isolation, files, env, limits, tools, skills } = await jobOptions(context, true);
  const language = flagValue(given, 'language');
  const packed = flagValue(given, 'session-in');
  const caps = {
    files: limits?.workspaceInodes ?? DEFAULT_LIMITS.workspaceInodes,
    bytes: (limits?.workspaceMib ?? DEFAULT_LIMITS.workspaceMib) * MIB,
  };
  const kept =
    packed === undefined ? [] : await readArchive(readInputFile('--session-in', packed, 2 * caps.bytes, io), caps);
  return {
    ...(runner === undefined ? {} : { runner }),
    ...(isolation === undefined ? {} : { isolation }),
    ...(language === undefined ? {} : { language }),
    ...(env === undefined ? {} : { env }),
    ...(limits === undefined ? {} : { limits }),
    ...(tools === undefined ? {} : { tools }),
    ...(skills === undefined ? {} : { skills }),
    files: [...kept, ...(Array.isArray(files) ? files : [])],
    // A user who thinks for an hour finds the session unchanged.
    idleTimeoutMs: MAX_SESSION_MS,
    sessionTimeoutMs: MAX_SESSION_MS,
  };
}
