import * as z from 'zod/mini';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { jobAnswer, jobAnswerSchema } from './job-answer.ts';
import {
  argsField,
  contentOf,
  envField,
  expectField,
  filesField,
  jobOf,
  languageField,
  skillsField,
  timeoutField,
} from './job-input.ts';
import { runJob, tellProgress } from './run-job.ts';
import { runAnswer, runAnswerSchema } from './run-answer.ts';
import type { ServerState } from './server-state.ts';
import { type ServerTool, serverTool, type ToolAnswer, type ToolCall } from './server-tool.ts';

const inputSchema = z.strictObject({
  code: z.string().check(z.minLength(1), z.describe('The program.')),
  language: z.optional(
    languageField.check(z.describe('Language of the code. Default: that of the session, or javascript without one.')),
  ),
  session: z.optional(
    z
      .string()
      .check(
        z.minLength(1),
        z.maxLength(64),
        z.describe('An id of open_session: the code runs there, with what earlier runs defined and wrote.'),
      ),
  ),
  files: z.optional(filesField),
  env: z.optional(envField),
  args: z.optional(argsField),
  stdin: z.optional(z.string().check(z.describe('Standard input of the program.'))),
  expect: z.optional(expectField),
  skills: z.optional(skillsField),
  timeoutMs: z.optional(timeoutField),
});

type Input = z.output<typeof inputSchema>;

/** Arguments of code without a session. */
const OF_A_JOB = ['args', 'stdin', 'expect', 'skills'] as const;

/** `run_code`: a program in a sandbox of its own, or the next one in a session. */
export function runCodeTool(state: ServerState): ServerTool {
  return serverTool({
    name: 'run_code',
    title: 'Run code',
    description:
      'Runs a program in an isolated sandbox and gives its outcome, output, value and files. Without `session` the sandbox is new and gone afterwards. ' +
      'The value is what a JavaScript or TypeScript program exports as default, what Python gives to skillcell.set_value, or in a session the last expression. ' +
      'Files that it writes below $SKILLCELL_OUTPUT come back as resources.',
    input: inputSchema,
    output: z.union([jobAnswerSchema, runAnswerSchema]),
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    run: (input, call) =>
      input.session === undefined ? runAlone(state, input, call) : runInSession(state, input, call),
  });
}

async function runAlone({ settings, store }: ServerState, input: Input, call: ToolCall): Promise<ToolAnswer> {
  const { orchestrator } = settings;
  const { code, language, stdin } = input;
  const result = await runJob(
    orchestrator,
    {
      kind: 'exec',
      ...jobOf(settings, input, call.signal),
      code,
      ...(language === undefined ? {} : { language }),
      ...(stdin === undefined ? {} : { stdin }),
    },
    call.progress,
  );
  return await jobAnswer(result, orchestrator, store);
}

async function runInSession(
  { sessions, store }: ServerState,
  input: Input,
  { signal, progress }: ToolCall,
): Promise<ToolAnswer> {
  const { code, language, session: id = '', files = {}, env, timeoutMs } = input;
  const surplus = OF_A_JOB.find((name) => input[name] !== undefined);
  if (surplus !== undefined) {
    const message = `Cannot call run_code: ${surplus} is for code without a session.`;
    throw new SkillcellError('options.invalid', message, {
      hint: 'Give a session its skills when it is opened; its code reads its input from its files.',
    });
  }
  const session = sessions.find(id);
  for (const [path, content] of Object.entries(files)) await session.files.write(path, contentOf(content));
  const stream = session.stream(code, {
    ...(language === undefined ? {} : { language }),
    ...(env === undefined ? {} : { env }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    signal,
  });
  stream.result.catch(() => undefined);
  await tellProgress(stream, progress);
  return await runAnswer(id, await stream.result, store);
}
