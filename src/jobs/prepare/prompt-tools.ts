import { describeTool, type OfferedTool } from '../../tools/define/offered-tool.ts';
import type { RuntimeGlobals, ToolDescription } from '../../contracts/jobs/globals.ts';
import type { Skill } from '../../contracts/skills/skill.ts';
import { findLanguage } from '../../languages/languages.ts';
import type { SkillsSubsystem } from '../../skills/index.ts';
import { cutTo, oneLine } from '../../skills/text/text.ts';

/** Maximum number of requests for more material by the model of one job. */
export const MAX_REQUESTS = 5;
/** Maximum number of skills with a remark on one tool, and characters of each remark. */
const MOST_REMARKS = 8;
const REMARK_CHARACTERS = 300;

/** Options of {@link withPromptTools}. */
export interface PromptToolsOptions {
  /** Tools of the job. */
  tools: Iterable<OfferedTool>;
  /** Full ids of the job's skills, in load order. */
  active: readonly string[];
  subsystem: SkillsSubsystem | undefined;
  /** Maximum tokens of the declarations; undefined for the default. */
  budgetTokens: number | undefined;
}

/**
 * Describes the tools of a codegen job for its model: declarations in the language of the program, with the remarks of the job's skills
 * from `tools.yaml`. A language without declarations gets the schemas.
 *
 * @param globals of the job
 * @param options tools and skills
 * @returns the globals; unchanged for other kinds of jobs
 */
export async function withPromptTools(globals: RuntimeGlobals, options: PromptToolsOptions): Promise<RuntimeGlobals> {
  const { codegen, language } = globals.JOB;
  if (codegen === undefined) return globals;
  const skills = options.active.flatMap((id) => options.subsystem?.skills.find((skill) => skill.id === id) ?? []);
  const offered = Array.from(options.tools, (tool) => ({ tool, row: withRemarks(describeTool(tool), skills) }));
  const tag = findLanguage(language)?.guide.declarations;
  const withRequests = (isComplete: boolean): typeof codegen =>
    options.subsystem === undefined && isComplete ? codegen : { ...codegen, requests: MAX_REQUESTS };
  if (tag === undefined || offered.length === 0) {
    return { ...globals, TOOLS: offered.map(({ row }) => row), JOB: { ...globals.JOB, codegen: withRequests(true) } };
  }
  const declared = offered.map(({ tool, row }) => ({ ...row, output: tool.output?.json }));
  // Loaded lazily: no other job needs it.
  const { toolStubs } = await import('../../tools/declarations/tool-stubs.ts');
  const { text, complete } = toolStubs(declared, tag, { budgetTokens: options.budgetTokens });
  return {
    ...globals,
    TOOLS: offered.map(({ row: { id, description } }) => ({ id, description })),
    JOB: { ...globals.JOB, codegen: { ...withRequests(complete), declarations: { tag, text, complete } } },
  };
}

/** Appends remarks. The first sentence stays the tool's own: a large set of tools shows only that. */
function withRemarks(row: ToolDescription, skills: readonly Skill[]): ToolDescription {
  const remarks = skills.flatMap(({ id, tools }) => {
    return tools.filter((tool) => tool.id === row.id).map(({ role, why }) => remarkOf(id, role, why));
  });
  const said = remarks.filter((remark) => remark !== '').slice(0, MOST_REMARKS);
  return said.length === 0 ? row : { ...row, description: [row.description, ...said].join('\n') };
}

function remarkOf(skillId: string, role = '', why = ''): string {
  if (role === '' && why === '') return '';
  const text = [`For ${skillId}`, role === '' ? '' : ` (${role})`, why === '' ? '' : `: ${why}`].join('');
  return cutTo(oneLine(text), REMARK_CHARACTERS);
}
