import type { Tool, ToolSet } from 'ai';
import * as z from 'zod/mini';
import { fromSdkTools, unexecutable, type SdkTools } from '../broker/sdk-tools.ts';
import type { Tool as OurTool } from '../broker/tool.ts';
import { checkOptions } from '../contracts/check-options.ts';
import type { LanguageDefinition } from '../contracts/language.ts';
import { SkillcellError } from '../contracts/skillcell-error.ts';
import { toolsSchema } from '../orchestrator/tools-schema.ts';
import type { CodeRunner } from './code-runner.ts';
import { declareTools } from './declare-tools.ts';
import { modelOutput } from './model-output.ts';
import { runCodeDescription } from './run-code-description.ts';
import type { RunCodeInput, RunOutput, SandboxTools } from './sandbox-tools.ts';
import type { SandboxToolsOptions } from './sandbox-tools-options.ts';
import { sdkCall } from './sdk-call.ts';
import { sdkTool } from './sdk-tool.ts';
import { asToolCaller } from './tool-caller.ts';

/** Options of {@link createRunCodeTool}. */
export interface RunCodeToolOptions {
  runner: CodeRunner;
  language: LanguageDefinition;
  inSession: boolean;
  hasSkills: boolean;
  toolBudgetTokens: number;
  /** Whether somebody has to allow each call of those that are bound, whatever they say. */
  approval: SandboxToolsOptions['approval'];
  /** Tools that programs may call besides those that are bound. */
  tools: readonly OurTool[];
  /** Is told the names of the tools that are bound. */
  onBind(names: readonly string[]): void;
}

const ACTION = 'bind tools to run_code';
const inputSchema = z.strictObject({ code: z.string().check(z.minLength(1)) });
const boundSchema = z.strictObject({ tools: toolsSchema });

/** Makes the tool that runs programs of the model, which call the tools that name it as their caller. */
export function createRunCodeTool(options: RunCodeToolOptions): SandboxTools['run_code'] {
  const bind = (tools: ToolSet): Tool<RunCodeInput, RunOutput> => bound(options, tools);
  return asToolCaller(bind({}), bind);
}

function bound(options: RunCodeToolOptions, given: ToolSet): Tool<RunCodeInput, RunOutput> {
  const { runner, language, inSession, hasSkills, toolBudgetTokens } = options;
  const tools = options.approval === 'always' ? withApproval(given) : given;
  const ours = requireOurs(tools, language);
  runner.requireBindable(tools);
  options.onBind(ours.map(({ id }) => id));
  const all = [...options.tools, ...ours];
  const description = runCodeDescription({ language, inSession, hasSkills, hasTools: all.length > 0 });
  const declared = declareTools(all, language, toolBudgetTokens);
  const program = `The whole program, in ${language.title}.`;
  const isLate = declared instanceof Promise;
  return sdkTool({
    name: 'run_code',
    description: isLate || declared === '' ? description : `${description}\n\n${declared}`,
    schema: inputSchema,
    fields: { code: program },
    laterFields: isLate ? declared.then((text) => ({ code: `${program} ${text}` })) : undefined,
    async execute({ code }, execution) {
      const { abortSignal: signal, context } = execution;
      const call = await sdkCall(execution, tools);
      return await runner.run({ code, call, context, tools, signal });
    },
    toModelOutput: modelOutput,
  });
}

/** The same tools, each of whose calls has to be allowed. A tool may be an instance of a class, which a copy would not be. */
function withApproval(tools: ToolSet): ToolSet {
  const asking = (tool: Tool): Tool => Object.create(tool, { needsApproval: { value: true } }) as Tool;
  return Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, asking(tool as Tool)])) as ToolSet;
}

/** The tools as ours, where programs of the language can call them by their names. */
function requireOurs(tools: SdkTools, { title, guide }: LanguageDefinition): OurTool[] {
  const names = Object.keys(tools);
  if (names.length > 0 && guide.tools === undefined) throw refused(`${title} cannot call tools`, names.join(', '));
  const without = unexecutable(tools);
  if (without !== undefined) throw refused('a tool has no execute, and nobody else would make its calls', without);
  const ours = fromSdkTools(tools);
  checkOptions(boundSchema, { tools: ours }, { action: ACTION });
  return ours;
}

function refused(reason: string, got: string): SkillcellError {
  return new SkillcellError('options.invalid', `Cannot ${ACTION}: ${reason}, got ${got}.`);
}
