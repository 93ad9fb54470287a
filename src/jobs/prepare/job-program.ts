import {
  DEFAULT_LANGUAGE,
  type Language,
  type LanguageDefinition,
  programFileName,
} from '../../contracts/jobs/language.ts';
import { quotedText } from '../../contracts/text/quoted-text.ts';
import { findLanguage, languageNames } from '../../languages/languages.ts';
import { programLanguage } from '../../languages/program-language.ts';
import type { SkillsSubsystem } from '../../skills/index.ts';
import type { OfferedTool } from '../../tools/define/offered-tool.ts';
import { listFitting } from '../../tools/agent/list-fitting.ts';
import { type CheckedRequest, invalid } from '../request/job-schema.ts';
import { findScript, type FoundScript } from './find-script.ts';
import type { PreparedSkills } from './prepare-skills.ts';

/** Language of a job's program; for a script also its place, in the first skill of the job. */
export function requestProgram(
  request: CheckedRequest,
  { refs, trees }: PreparedSkills,
  subsystem: SkillsSubsystem | undefined,
): { language: Language; script?: FoundScript['script'] } {
  if (request.kind !== 'script') return { language: requestLanguage(request) };
  const skill = subsystem?.skills.find(({ id }) => id === refs[0]);
  const tree = trees.get(skill?.id ?? '');
  if (skill === undefined || tree === undefined) throw invalid(`skill names no skill that was loaded, got ${refs[0]}`);
  return findScript(skill, tree, request.script);
}

/** Name of the program's file; undefined if the job writes no such file. */
export function programName(request: CheckedRequest, language: Language): string | undefined {
  if (request.kind === 'script' || request.kind === 'session') return undefined;
  return programFileName(definitionOf(language), request.kind === 'exec' ? request.fileName : undefined);
}

/** Whether the program of a job can call tools. Scripts do their own work. */
export function canCallTools(request: CheckedRequest): boolean {
  if (request.kind !== 'exec' && request.kind !== 'codegen') return false;
  return definitionOf(requestLanguage(request)).guide.tools !== undefined;
}

/** Refuses tools in a language that cannot call them, instead of ignoring them. */
export function requireCallable(tools: ReadonlyMap<string, OfferedTool>, language: Language): void {
  const { title, guide } = definitionOf(language);
  if (tools.size === 0 || guide.tools !== undefined) return;
  throw invalid(`tools cannot be called from ${title}, got ${listFitting(Array.from(tools.keys(), quotedText))}`);
}

function requestLanguage(request: Exclude<CheckedRequest, { kind: 'script' }>): Language {
  if (request.language !== undefined) return request.language;
  if (request.kind !== 'exec') return DEFAULT_LANGUAGE;
  const language = programLanguage(request.code, request.fileName);
  if (language !== undefined) return language;
  const named = request.fileName === undefined ? 'its first line' : `its file name ${JSON.stringify(request.fileName)}`;
  throw invalid(`language is missing and ${named} names none of ${languageNames().join(', ')}`);
}

function definitionOf(language: Language): LanguageDefinition {
  const definition = findLanguage(language);
  if (definition === undefined) throw invalid(`there is no such language, got ${language}`);
  return definition;
}
