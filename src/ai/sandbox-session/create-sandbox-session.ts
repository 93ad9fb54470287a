import type { Experimental_SandboxSession as SandboxSession } from 'ai';
import * as z from 'zod/mini';
import { checkEnv, envSchema, noNul } from '../../jobs/request/job-schema.ts';
import { checkOptions } from '../../contracts/checks/check-options.ts';
import { DEFAULT_LIMITS } from '../../contracts/jobs/limits.ts';
import { sandboxSentences, type ToldNetwork } from '../../contracts/network/told-network.ts';
import type { Session } from '../../contracts/jobs/session.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { SANDBOX_PORT, type HostedSession, type SandboxPort } from '../../jobs/session/sandbox-port.ts';
import { runCommand } from './run-command.ts';
import { createSandboxFiles } from './sandbox-files.ts';
import { spawnCommand } from './spawn-command.ts';
import type { CommandOptions } from './start-command.ts';

/** Options of {@link createSandboxSession}. */
export interface SandboxSessionOptions {
  /** Time limit of a command of `run`; a command of `spawn` has only the session's limit. @default 120,000 ms */
  commandTimeoutMs?: number;
}

/** The longest argument of a program on Linux. */
const COMMAND_BYTES = 128 * 1024 - 1;
const MOST_MS = 86_400_000;

const optionsSchema = z.strictObject({
  commandTimeoutMs: z.optional(z.number().check(z.int(), z.minimum(1), z.maximum(MOST_MS))),
});
const commandSchema = z.looseObject({
  command: noNul.check(
    z.refine((text) => Buffer.byteLength(text) <= COMMAND_BYTES, `must have at most ${COMMAND_BYTES} bytes`),
  ),
  workingDirectory: z.optional(noNul),
  env: z.optional(envSchema),
  stdin: z.optional(z.boolean()),
});

const description = (
  network: string,
): string => `An isolated sandbox of Linux, with bash, Node.js 24 and, where the machine has it, Python 3.
Relative paths mean its workspace, which is also the folder that commands start in and $HOME; files that are to be kept go below $SKILLCELL_OUTPUT.
${network}, processes and the size of the workspace are limited.
Several commands may run at once, and end with the session at the latest.`;

/**
 * Makes a sandbox of the AI SDK from a session: commands and files for tools that use `experimental_sandbox`. Commands run in bash, with the rights of
 * the session's code, several at once if they are started so. The session stays its opener's, who ends it.
 *
 * @param session from `orchestrator.session()`
 * @param options options of commands
 * @returns a value for `experimental_sandbox` of `generateText` and agents
 * @throws SkillcellError `options.invalid`
 * @example
 * ```ts
 * import { createOrchestrator } from 'skillcell';
 * import { createSandboxSession } from 'skillcell/ai';
 *
 * await using orchestrator = createOrchestrator();
 * await using session = await orchestrator.session();
 * const sandbox = createSandboxSession(session);
 * await sandbox.writeTextFile({ path: 'notes/a.txt', content: 'one\ntwo\n' });
 * const { exitCode, stdout } = await sandbox.run({ command: 'wc -l < notes/a.txt' });
 * console.log(exitCode, stdout.trim(), await sandbox.readTextFile({ path: 'notes/a.txt', startLine: 2, endLine: 2 }));
 * // prints: 0 2 two
 * ```
 */
export function createSandboxSession(session: Session, options: SandboxSessionOptions = {}): SandboxSession {
  const { commandTimeoutMs: limitMs = DEFAULT_LIMITS.runTimeoutMs } = checkOptions(optionsSchema, options, {
    action: 'create a sandbox of a session',
  });
  const port = portOf(session);
  const spawn: unknown = async (given: SpawnOptions) =>
    spawnCommand(port, checked({ ...given, stdin: given.stdin ?? false }), given.abortSignal);
  return {
    description: description(networkText(port.network)),
    ...createSandboxFiles(port),
    run: async (given) => runCommand(port, checked({ ...given, stdin: false }), { limitMs, signal: given.abortSignal }),
    // One function cannot have the type of the overloads.
    spawn: spawn as SandboxSession['spawn'],
  };
}

/** The network up to the sentence on limits, with its first word. Without a network the text is that of earlier versions. */
function networkText(network: ToldNetwork | undefined): string {
  if (network === undefined) return 'There is no network, nothing can be installed, and memory';
  return [...sandboxSentences(network), 'Memory'].join('\n');
}

/** @throws SkillcellError `options.invalid` for an object that no orchestrator has opened */
function portOf(session: Session): SandboxPort {
  const port = (Object(session) as Partial<HostedSession>)[SANDBOX_PORT];
  if (port !== undefined) return port;
  const message = 'Cannot create a sandbox of a session: the session must come from orchestrator.session().';
  throw new SkillcellError('options.invalid', message);
}

type SpawnOptions = Parameters<SandboxSession['run']>[0] & { stdin?: boolean };

function checked({ command, workingDirectory, env, stdin }: CommandOptions): CommandOptions {
  checkOptions(
    commandSchema,
    { command, workingDirectory, env, stdin },
    { action: 'run a command', whole: 'the command' },
  );
  checkEnv(env ?? {});
  return { command, workingDirectory, env, stdin };
}
