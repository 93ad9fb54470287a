import type { LanguageDefinition } from '../contracts/language.ts';

/** What {@link runCodeDescription} says of. */
export interface RunCodeDescription {
  language: LanguageDefinition;
  /** Whether programs run in one session. */
  inSession: boolean;
  hasSkills: boolean;
  hasTools: boolean;
}

/** Says to a model what `run_code` does, and what a program has to know. */
export function runCodeDescription({ language, inSession, hasSkills, hasTools }: RunCodeDescription): string {
  const { title, guide, installed } = language;
  const rules = guide.rules.map((rule) => rule.replace('{version}', installed?.version ?? ''));
  return [
    `Runs a ${title} program in an isolated sandbox, and gives how it ended, what it printed, its value, its error, and what it ${inSession ? 'displayed' : 'left as files'}.`,
    inSession
      ? 'All programs run in one session, one after the other: what one defines, and its files, are there for the next.'
      : 'Each program starts anew: nothing of an earlier one is there.',
    ...rules.map((rule) => `- ${rule}`),
    '- There is no network, and nothing can be installed.',
    `- Files that are to be kept go below the folder that ${guide.outputFolder} names.`,
    `- ${guide.value}`,
    ...(inSession ? ['- Else the value of the last expression is the result.'] : []),
    ...(hasTools && guide.tools !== undefined ? [`- ${guide.tools}`] : []),
    ...(hasSkills ? [`- ${guide.skillFiles}`] : []),
  ].join('\n');
}
