import { selectTools } from '../tools/define/tool-selection.ts';
import type { Tool } from '../tools/define/tool.ts';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import { findLanguage } from '../languages/languages.ts';
import { toolPatterns } from '../jobs/request/asked-tools.ts';
import { networkOfJobs } from '../jobs/network/network-port.ts';
import { SANDBOX_PORT, type HostedSession } from '../jobs/session/sandbox-port.ts';
import { skillSource } from '../jobs/request/skill-source.ts';
import type { ToldNetwork } from '../contracts/network/told-network.ts';
import { createDisclosureTools } from '../tools/agent/disclosure-tools.ts';
import type { Orchestrator } from '../jobs/orchestrator.ts';
import { createJobCodeRunner } from './run-code/job-code-runner.ts';
import { createRunCodeTool } from './run-code/run-code-tool.ts';
import type { SandboxTools } from './sandbox-tools.ts';
import {
  readSandboxToolsOptions,
  type SandboxToolsOptions,
  type SandboxToolsSettings,
} from './sandbox-tools-options.ts';
import {
  createGivenSessionRunner,
  createSessionCodeRunner,
  type SessionCodeRunner,
} from './run-code/session-code-runner.ts';
import { createSkillScriptTool } from './skill-script-tool.ts';
import { createSkillTools } from './skill-tools.ts';

/**
 * Makes tools for an agent of the AI SDK: `run_code` runs programs in sandboxes; the tools of skills list, load, read and run the orchestrator's
 * skills. Tools of yours that name `run_code` as their caller, by `experimental_toolCallers`, are called by the programs, through all checks of
 * the tools of a job.
 *
 * @param orchestrator runs the programs; its `approve` is asked for calls of tools with `needsApproval`; the SDK's `toolApproval` does not apply to them
 * @param options options of the programs, and of the output for the model
 * @returns the tools, for `generateText`, `streamText` and agents
 * @throws SkillcellError `options.invalid`, or as a job for its network
 * @example
 * ```ts
 * import { generateText, tool } from 'ai';
 * import { MockLanguageModelV4 } from 'ai/test';
 * import { createOrchestrator } from 'skillcell';
 * import { createSandboxTools } from 'skillcell/ai';
 * import * as z from 'zod';
 *
 * // Stands in for a paid model: it answers with this program.
 * const code = "import { tools } from 'skillcell'; export default (await tools.find({ name: 'Ada' })).since;";
 * const call = { type: 'tool-call' as const, toolCallId: '1', toolName: 'run_code', input: JSON.stringify({ code }) };
 * const none = { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0, text: 0, reasoning: 0 };
 * const usage = { inputTokens: none, outputTokens: none };
 * const finishReason = { unified: 'tool-calls' as const, raw: '' };
 * const model = new MockLanguageModelV4({ doGenerate: { content: [call], finishReason, usage, warnings: [] } });
 *
 * const find = tool({ inputSchema: z.object({ name: z.string() }), execute: async ({ name }) => ({ name, since: 2019 }) });
 * await using orchestrator = createOrchestrator();
 * const { toolResults } = await generateText({
 *   model,
 *   tools: { ...createSandboxTools(orchestrator), find },
 *   experimental_toolCallers: { find: ['run_code'] },
 *   prompt: 'Since when is Ada a customer?',
 * });
 * for (const result of toolResults) if (!result.dynamic && result.toolName === 'run_code') console.log(result.output.value);
 * // prints: 2019
 * ```
 */
export function createSandboxTools(orchestrator: Orchestrator, options: SandboxToolsOptions = {}): SandboxTools {
  const settings = readSandboxToolsOptions(options);
  const { consumer, outputCharacters, toolBudgetTokens } = settings;
  const { skills } = orchestrator;
  const language = findLanguage(settings.language);
  if (language === undefined)
    throw new SkillcellError('internal.fault', `Cannot find the language ${settings.language}.`);
  const chosen = chosenTools(orchestrator, settings);
  const inSession = sessionRunner(orchestrator, settings);
  let bound: readonly string[] = [];
  const runCode = createRunCodeTool({
    runner: inSession ?? createJobCodeRunner(orchestrator, settings),
    language,
    inSession: inSession !== undefined,
    network: networkOf(orchestrator, settings),
    hasSkills: settings.skills.length > 0,
    toolBudgetTokens,
    approval: settings.approval,
    tools: chosen,
    onBind: (names) => (bound = names),
  });
  const known = (): string[] => [...chosen.map(({ id }) => id), ...bound];
  const ofSkills = skills && {
    ...createSkillTools({ skills, consumer, outputCharacters, known }),
    run_skill_script: createSkillScriptTool(orchestrator, settings),
  };
  // Non-enumerable, since the SDK takes enumerable properties for tools.
  const dispose = { value: async () => await inSession?.close() };
  return Object.defineProperty({ run_code: runCode, ...ofSkills }, Symbol.asyncDispose, dispose) as SandboxTools;
}

function sessionRunner(orchestrator: Orchestrator, settings: SandboxToolsSettings): SessionCodeRunner | undefined {
  const { session } = settings;
  if (session === false) return undefined;
  return session === true
    ? createSessionCodeRunner(orchestrator, settings)
    : createGivenSessionRunner(session, settings);
}

/** A given session has its own network. */
function networkOf(orchestrator: Orchestrator, settings: SandboxToolsSettings): ToldNetwork | undefined {
  const { session } = settings;
  if (typeof session === 'boolean') return networkOfJobs(orchestrator, settings);
  return (session as Partial<HostedSession>)[SANDBOX_PORT]?.network;
}

/** Tools that programs may call besides the bound ones, as far as they are known before there is a job. */
function chosenTools(
  { tools: ofHost, skills }: Orchestrator,
  { tools: asked, consumer }: SandboxToolsSettings,
): Tool[] {
  const own = asked.filter((each) => typeof each !== 'string') as Tool[];
  const ofSkills =
    skills === undefined ? [] : createDisclosureTools({ skills: skillSource(skills).known, consumer }).tools;
  return selectTools([...ofHost, ...own, ...ofSkills], toolPatterns(asked)).tools;
}
