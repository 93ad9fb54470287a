import type { Experimental_ToolCallerTool, Tool, ToolSet } from 'ai';
import * as z from 'zod/mini';
import { fromSdkTools, type SdkTools, unexecutable } from '../../tools/define/sdk-tools.ts';
import type { Tool as OurTool } from '../../tools/define/tool.ts';
import { checkOptions } from '../../contracts/checks/check-options.ts';
import { networkSentences, packageSentences, type ToldNetwork } from '../../contracts/network/told-network.ts';
import { fillGuideRules, type LanguageDefinition } from '../../contracts/jobs/language.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { toolsSchema } from '../../jobs/request/tools-schema.ts';
import type { CodeRunner } from './code-runner.ts';
import { declareTools } from './declare-tools.ts';
import type { RunCodeInput, RunOutput, SandboxTools } from '../sandbox-tools.ts';
import type { SandboxToolsOptions } from '../sandbox-tools-options.ts';
import { sdkCall } from './sdk-call.ts';
import { type ModelOutput, sdkTool } from '../sdk-tool.ts';

/** Input of {@link runCodeDescription}. */
interface RunCodeDescription {
  language: LanguageDefinition;
  /** Whether programs run in one session. */
  inSession: boolean;
  network: ToldNetwork | undefined;
  hasSkills: boolean;
  hasTools: boolean;
}

/** Options of {@link createRunCodeTool}. */
export interface RunCodeToolOptions {
  runner: CodeRunner;
  language: LanguageDefinition;
  inSession: boolean;
  /** The network of programs; undefined without one. */
  network: ToldNetwork | undefined;
  hasSkills: boolean;
  toolBudgetTokens: number;
  /** `always`: each call of a bound tool needs an approval, whatever the tool says. */
  approval: SandboxToolsOptions['approval'];
  /** Tools that programs may call besides the bound ones. */
  tools: readonly OurTool[];
  /** Receives the names of the bound tools. */
  onBind(names: readonly string[]): void;
}

const ACTION = 'bind tools to run_code';
const inputSchema = z.strictObject({ code: z.string().check(z.minLength(1)) });
const boundSchema = z.strictObject({ tools: toolsSchema });

/** Makes the tool that runs programs of the model. Programs call the tools that name it as their caller. */
export function createRunCodeTool(options: RunCodeToolOptions): SandboxTools['run_code'] {
  const bind = (tools: ToolSet): Tool<RunCodeInput, RunOutput> => bound(options, tools);
  return asToolCaller(bind({}), bind);
}

function bound(options: RunCodeToolOptions, given: ToolSet): Tool<RunCodeInput, RunOutput> {
  const { runner, language, inSession, network, hasSkills, toolBudgetTokens } = options;
  const tools = options.approval === 'always' ? withApproval(given) : given;
  const ours = requireOurs(tools, language);
  runner.requireBindable(tools);
  options.onBind(ours.map(({ id }) => id));
  const all = [...options.tools, ...ours];
  const description = runCodeDescription({ language, inSession, network, hasSkills, hasTools: all.length > 0 });
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

/** The same tools, but each call needs an approval. `Object.create` keeps a tool that is an instance of a class; a copy would not. */
function withApproval(tools: ToolSet): ToolSet {
  const asking = (tool: Tool): Tool => Object.create(tool, { needsApproval: { value: true } }) as Tool;
  return Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, asking(tool as Tool)])) as ToolSet;
}

/** The tools as ours; refuses those that programs of the language cannot call by their names. */
function requireOurs(tools: SdkTools, { title, guide }: LanguageDefinition): OurTool[] {
  const names = Object.keys(tools);
  if (names.length > 0 && guide.tools === undefined) throw refused(`${title} cannot call tools`, names.join(', '));
  const without = unexecutable(tools);
  if (without !== undefined) throw refused('a tool has no execute, so its calls cannot be made', without);
  const ours = fromSdkTools(tools);
  checkOptions(boundSchema, { tools: ours }, { action: ACTION });
  return ours;
}

function refused(reason: string, got: string): SkillcellError {
  return new SkillcellError('options.invalid', `Cannot ${ACTION}: ${reason}, got ${got}.`);
}

/** The output for the service of the model: pictures, if there are any, apart from the rest. */
function modelOutput({ output }: { output: RunOutput }): ModelOutput {
  const pictures = output.displayed?.filter(({ base64 }) => base64 !== undefined) ?? [];
  if (pictures.length === 0) return { type: 'json', value: output as never };
  const displayed = output.displayed?.map(({ base64, ...rest }) =>
    base64 === undefined ? rest : { ...rest, attached: true },
  );
  return {
    type: 'content',
    value: [
      { type: 'text', text: JSON.stringify({ ...output, displayed }) },
      ...pictures.map(({ mediaType, base64 = '' }) => {
        return { type: 'file' as const, mediaType, data: { type: 'data' as const, data: base64 } };
      }),
    ],
  };
}

/** Describes `run_code` and the rules for programs to a model. */
function runCodeDescription({ language, inSession, network, hasSkills, hasTools }: RunCodeDescription): string {
  const { title, guide, installed } = language;
  const packages = network === undefined ? [] : packageSentences(network);
  const hasOwnPackages = Object.values(network?.packages ?? {}).some((names) => names.length > 0);
  const rules = fillGuideRules(guide.rules, { version: installed?.version, hasOwnPackages });
  return [
    `Runs a ${title} program in an isolated sandbox, and gives how it ended, what it printed, its value, its error, and what it ${inSession ? 'displayed' : 'left as files'}.`,
    inSession
      ? 'All programs run in one session, one after the other: what one defines, and its files, are there for the next.'
      : 'Each program starts anew: nothing of an earlier one is there.',
    ...[...rules, ...packages, ...networkRules(network)].map((rule) => `- ${rule}`),
    `- Files that are to be kept go below the folder that ${guide.outputFolder} names.`,
    `- ${guide.value}`,
    ...(inSession ? ['- Else the value of the last expression is the result.'] : []),
    ...(hasTools && guide.tools !== undefined ? [`- ${guide.tools}`] : []),
    ...(hasSkills ? [`- ${guide.skillFiles}`] : []),
  ].join('\n');
}

function networkRules(network: ToldNetwork | undefined): string[] {
  if (network === undefined) return ['There is no network, and nothing can be installed.'];
  return networkSentences(network);
}

/**
 * Makes a tool that calls others: with `experimental_toolCallers` the AI SDK passes those to `bind` before each step, and uses the result
 * in place of the tool. It recognizes such a tool by this one property, so that nothing of the SDK is loaded here.
 */
function asToolCaller<Made extends Tool>(
  tool: Made,
  bind: (tools: ToolSet) => Tool,
): Experimental_ToolCallerTool<Made> {
  const definition: Experimental_ToolCallerTool<Made>['experimental_toolCaller'] = { type: 'local', bind };
  // Non-enumerable, as by the SDK's own function: copies of the tool lose the marker.
  const caller = Object.defineProperty({ ...tool }, 'experimental_toolCaller', { value: definition });
  return caller as Experimental_ToolCallerTool<Made>;
}
