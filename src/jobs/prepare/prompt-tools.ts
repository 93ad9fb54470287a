import { describeTool, type OfferedTool } from '../../tools/define/offered-tool.ts';
import type { RuntimeGlobals, ToolDescription } from '../../contracts/jobs/globals.ts';
import type { Skill } from '../../contracts/skills/skill.ts';
import { findLanguage } from '../../languages/languages.ts';
import type { SkillsSubsystem } from '../../skills/index.ts';
import { cutTo, oneLine } from '../../skills/text/text.ts';

/** Requests for more that the model of one job may make. */
export const MAX_REQUESTS = 5;
/** Skills that say something of one tool, and characters that each may say. */
const MOST_REMARKS = 8;
const REMARK_CHARACTERS = 300;

/** What the tools of a job are described with. */
export interface PromptToolsOptions {
  /** What the job may call. */
  tools: Iterable<OfferedTool>;
  /** Full ids of the job's skills, in load order. */
  active: readonly string[];
  subsystem: SkillsSubsystem | undefined;
  /** Tokens that the declarations may take. */
  budgetTokens: number | undefined;
}

/**
 * Says what the model of a codegen job has to know of its tools: their declarations in the language of the program, with what the job's skills
 * say of them in `tools.yaml`. A language without declarations gets their schemas.
 *
 * @param globals of the job
 * @param options tools and skills
 * @returns the globals; those of other jobs as they are
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
  // No other job needs the writer.
  const { toolStubs } = await import('../../tools/declarations/tool-stubs.ts');
  const { text, complete } = toolStubs(declared, tag, { budgetTokens: options.budgetTokens });
  return {
    ...globals,
    TOOLS: offered.map(({ row: { id, description } }) => ({ id, description })),
    JOB: { ...globals.JOB, codegen: { ...withRequests(complete), declarations: { tag, text, complete } } },
  };
}

/** The first sentence stays the tool's own: it is all that a large set of tools shows. */
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
