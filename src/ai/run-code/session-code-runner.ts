import { isDeepStrictEqual } from 'node:util';
import { offerTool } from '../../tools/define/offered-tool.ts';
import { fromSdkTools, type SdkTools } from '../../tools/define/sdk-tools.ts';
import type { Tool } from '../../tools/define/tool.ts';
import type { Session, SessionRun } from '../../contracts/jobs/session.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { Orchestrator } from '../../jobs/orchestrator.ts';
import type { CodeRequest, CodeRunner } from './code-runner.ts';
import { jobOptions } from '../job-options.ts';
import type { SandboxToolsSettings } from '../sandbox-tools-options.ts';
import { shownSessionRun } from '../answers/shown-session-run.ts';

/** Runs programs in a session; `close` ends the session that it has opened. */
export interface SessionCodeRunner extends CodeRunner {
  close(): Promise<void>;
}

/** A session that the tools have opened, and its options. */
interface Opened {
  session: Session;
  tools: unknown;
  context: unknown;
  isOver: boolean;
}

/** The tools of the call whose program runs: the session's tools forward to them. */
type Current = ReadonlyMap<string, Tool>;

const NEW_SESSION = 'The earlier session has ended: definitions and files of earlier programs are gone.';

/** Runs all programs in one session, which is opened for the first of them. */
export function createSessionCodeRunner(orchestrator: Orchestrator, settings: SandboxToolsSettings): SessionCodeRunner {
  const { language, tools: chosen, skills: refs, consumer } = settings;
  let opening: Promise<Opened> | undefined;
  let current: Current | undefined;
  let turn: Promise<unknown> = Promise.resolve();
  let isClosed = false;
  /** Whether the model must still be told that nothing of earlier programs is there. */
  let isNew = false;

  const open = async ({ tools, context = settings.context }: CodeRequest): Promise<Opened> => {
    const own = fromSdkTools(tools);
    const session = await orchestrator.session({
      ...jobOptions(settings),
      language,
      tools: [...chosen, ...own.map((tool) => ({ ...tool, execute: executeCurrent(tool, () => current) }))],
      skills: { refs, consumer },
      context,
    });
    const opened: Opened = { session, tools: await told(own), context, isOver: false };
    const end = (): void => void (opened.isOver = true);
    session.ended.then(end, end);
    return opened;
  };
  const runNow = async (request: CodeRequest): Promise<[SessionRun, Session, string[]]> => {
    const { code, call, tools, signal } = request;
    signal?.throwIfAborted();
    if (isClosed) throw new SkillcellError('session.ended', 'Cannot run code: the tools of the sandbox were closed.');
    const before = await opening;
    if (before?.isOver === true) isNew = true;
    const isThere = before?.isOver === false;
    if (isThere) await requireSame(before, request, settings);
    const opened = isThere ? (opening as NonNullable<typeof opening>) : open(request);
    opening = opened;
    const { session } = await opened.catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    current = new Map(fromSdkTools(tools, () => call).map((tool) => [tool.id, tool]));
    try {
      const run = await session.run(code, { language, ...(signal === undefined ? {} : { signal }) });
      const notes = isNew ? [NEW_SESSION] : [];
      isNew = false;
      return [run, session, notes];
    } finally {
      current = undefined;
    }
  };

  return {
    requireBindable: () => undefined,
    async run(request) {
      const work = turn.then(() => runNow(request));
      // A failed run does not fail the next one.
      turn = work.catch(() => undefined);
      const [run, session, notes] = await work;
      return shownSessionRun(run, session.id, settings, notes);
    },
    async close() {
      isClosed = true;
      const opened = await opening?.catch(() => undefined);
      await opened?.session.close();
    },
  };
}

/** Runs all programs in a session of the caller, who closes it. */
export function createGivenSessionRunner(session: Session, settings: SandboxToolsSettings): SessionCodeRunner {
  const { language } = settings;
  return {
    requireBindable(tools) {
      const names = Object.keys(tools);
      if (names.length === 0) return;
      const message = `Cannot bind tools to run_code: a session has the tools that it was opened with, got ${names.join(', ')}.`;
      throw new SkillcellError('options.invalid', message, {
        hint: 'Let the tools open their session: session: true.',
      });
    },
    async run({ code, signal }) {
      const run = await session.run(code, { language, ...(signal === undefined ? {} : { signal }) });
      return shownSessionRun(run, session.id, settings, []);
    },
    close: () => Promise.resolve(),
  };
}

/** A session keeps its tools; the tools of the current call do their work. */
function executeCurrent({ id }: Tool, current: () => Current | undefined): Tool['execute'] {
  return async (input, around) => {
    const tool = current()?.get(id);
    if (tool === undefined) throw new Error(`a call of ${id} within no program`);
    return await tool.execute(input, around);
  };
}

/** The parts of tools that programs see, or that are enforced: a session keeps those of its opening. */
async function told(tools: readonly Tool[]): Promise<unknown> {
  return await Promise.all(
    tools.map(async (tool) => {
      const { input, output } = await offerTool(tool);
      return { id: tool.id, input: input?.json, output: output?.json, approval: tool.approval };
    }),
  );
}

async function requireSame(
  opened: Opened,
  { tools, context }: CodeRequest,
  settings: SandboxToolsSettings,
): Promise<void> {
  const own = await told(fromSdkTools(tools));
  if (!isDeepStrictEqual(own, opened.tools)) throw refused('the session was opened with other tools', namesOf(tools));
  if (!isDeepStrictEqual(context ?? settings.context, opened.context))
    throw refused('the session was opened with another context', 'one that is not equal to it');
}

function namesOf(tools: SdkTools): string {
  return Object.keys(tools).join(', ') || 'none';
}

function refused(reason: string, got: string): SkillcellError {
  return new SkillcellError('options.invalid', `Cannot run code: ${reason}, got ${got}.`, {
    hint: 'Create tools of their own for each conversation.',
  });
}
