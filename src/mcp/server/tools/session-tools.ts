import * as z from 'zod/mini';
import { jobAnswer, jobAnswerSchema } from './job-answer.ts';
import { filesField, jobOf, languageField, skillsField } from './job-input.ts';
import type { ServerState } from './server-state.ts';
import { type ServerTool, serverTool } from './server-tool.ts';

const openSchema = z.strictObject({
  language: z.optional(languageField),
  skills: z.optional(skillsField),
  files: z.optional(filesField),
  idleTimeoutMs: z.optional(
    z
      .number()
      .check(
        z.int(),
        z.minimum(1),
        z.describe('How long it may do nothing before it ends, in milliseconds. Default: 600,000.'),
      ),
  ),
  sessionTimeoutMs: z.optional(
    z.number().check(z.int(), z.minimum(1), z.describe('How long it may last, in milliseconds. Default: 14,400,000.')),
  ),
});

const closeSchema = z.strictObject({
  session: z.string().check(z.minLength(1), z.maxLength(64), z.describe('An id of open_session.')),
});

/** `open_session`: a sandbox that stays open for further runs. */
export function openSessionTool({ settings, sessions }: ServerState): ServerTool {
  return serverTool({
    name: 'open_session',
    title: 'Open a session',
    description:
      'Opens a sandbox that stays: what is defined and written by one run_code with this `session` is there for the next. Close it when it is not needed any more.',
    input: openSchema,
    output: z.strictObject({ session: z.string(), language: z.string() }),
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    async run({ language = 'javascript', idleTimeoutMs, sessionTimeoutMs, ...input }, { signal }) {
      // The session outlives this call, whose signal is for its opening only.
      const { signal: _opening, ...job } = jobOf(settings, input, signal);
      const session = await sessions.open(
        {
          ...job,
          language,
          ...(idleTimeoutMs === undefined ? {} : { idleTimeoutMs }),
          ...(sessionTimeoutMs === undefined ? {} : { sessionTimeoutMs }),
        },
        signal,
      );
      // The client does not get its id, so it could never close it.
      if (signal.aborted) await session.close();
      return { value: { session: session.id, language } };
    },
  });
}

/** `close_session`: ends a session, and gives the result of its job. */
export function closeSessionTool({ settings, sessions, store }: ServerState): ServerTool {
  return serverTool({
    name: 'close_session',
    title: 'Close a session',
    description: 'Ends a session. The files that it left below $SKILLCELL_OUTPUT come back as resources.',
    input: closeSchema,
    output: jobAnswerSchema,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
    givesRoom: true,
    run: async ({ session }) => jobAnswer(await sessions.find(session).close(), settings.orchestrator, store),
  });
}
