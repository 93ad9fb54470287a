import { findInterpreter, type Language, type LanguageDefinition } from '../../contracts/jobs/language.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { findLanguage } from '../../languages/languages.ts';

/** A language that can start here, and the path of its interpreter. */
export interface FoundLanguage {
  definition: LanguageDefinition;
  interpreter: string;
}

/**
 * Looks up a language and its interpreter.
 *
 * @param ownNode path of skillcell's own Node in the sandbox
 * @param visible true for host paths that the sandbox can see
 * @throws SkillcellError `runtime.missing`
 */
export function requireInterpreter(
  name: Language,
  ownNode: string = process.execPath,
  visible: (path: string) => boolean = () => true,
): FoundLanguage {
  const definition = findLanguage(name);
  if (definition === undefined) throw missing(name, 'there is no such language');
  const places = definition.interpreters?.filter(visible);
  const interpreter = findInterpreter({ ...definition, interpreters: places }, ownNode);
  if (interpreter === undefined)
    throw missing(definition.title, `its interpreter is missing, there is no ${places?.join(' or ') ?? ''}`);
  return { definition, interpreter };
}

function missing(title: string, reason: string): SkillcellError {
  return new SkillcellError('runtime.missing', `Cannot run ${title}: ${reason}.`);
}
