import type { DiagnosticCode, DiagnosticText } from '../diagnostic-severities.ts';

type Code = Extract<
  DiagnosticCode,
  | `policy.${string}`
  | `import.${string}`
  | `render.${string}`
  | `citation.${string}`
  | `descriptor.${string}`
  | `strict.${string}`
>;

/** Texts of diagnostics from the selection, rendering, transfer and strict validation of skills. */
export const SKILL_USE_TEXTS: Readonly<Record<Code, DiagnosticText>> = {
  'policy.pattern-unused': {
    meaning: 'a pattern of agents_config matches no loaded skill',
    advice: 'Correct the pattern; `skillcell skills list --include-internal` shows the ids.',
  },
  'policy.star-enabled': {
    meaning: '`enabled` under the consumer "*" has no effect',
    advice: 'List the skills under each consumer, or use disabled.',
  },
  'import.unknown': {
    meaning: 'the imported skill is not loaded; the importer stays',
    advice: 'Correct the id, or add the skill.',
  },
  'import.cycle': {
    meaning: 'an import leads back to a skill whose imports are being expanded; dropped',
    advice: 'Remove one of the imports.',
  },
  'import.denied': {
    meaning: '`disabled` matches the imported skill; the import is dropped, the importer stays',
    advice: 'Remove the skill from `disabled`, or remove the import.',
  },
  'import.depth': {
    meaning: 'an import deeper than 32; dropped',
    advice: 'Import the skill from a skill nearer to the top.',
  },
  'import.limit': {
    meaning: 'more than 200 skills in one expansion; the rest is dropped',
    advice: 'Ask for fewer skills, or import fewer.',
  },
  'render.escaped': {
    meaning: 'lines inside a code fence look like skillcell markers and got a backslash, which changes the code',
    advice: 'Rewrite these lines if the backslash matters.',
  },
  'citation.unmapped': {
    meaning: 'the sources of the skill lack this id; dropped',
    advice: 'Add the source to sources.yaml, or remove the number from the text.',
  },
  'citation.invalid': {
    meaning: 'a part of a token is neither a number nor a range; dropped',
    advice: 'Write numbers and ranges: [[S:1,3-5]].',
  },
  'citation.range': {
    meaning: 'a range of more than 1,000 ids; the token is removed',
    advice: 'Cite only the relevant sources.',
  },
  'descriptor.invalid': {
    meaning: 'the value does not have the shape of a descriptor',
    advice: 'Correct the named field; `skillcell skills descriptor` prints a valid one.',
  },
  'descriptor.schema': {
    meaning: 'the schema is unknown',
    advice: 'Use a descriptor of this version; `skillcell skills descriptor` prints one.',
  },
  'descriptor.root-unresolved': {
    meaning: 'custom_skills_root is relative, and bundle_root is missing',
    advice: 'Give an absolute custom_skills_root, or a bundle_root.',
  },
  'descriptor.digest': {
    meaning: 'the digest of the descriptor does not match its content',
    advice: 'Create the descriptor again; it was changed.',
  },
  'descriptor.skill-digest': {
    meaning: 'the digest of a skill does not match its list of files',
    advice: 'Create the descriptor again; it was changed.',
  },
  'descriptor.path': {
    meaning: 'a path is absolute, leaves the skill, is not normalized or is listed twice',
    advice: 'Create the descriptor again; skillcell writes no such path.',
  },
  'descriptor.file-missing': { meaning: 'a listed file did not arrive', advice: 'Send all files of the skill.' },
  'descriptor.file-extra': {
    meaning: 'an unlisted file arrived',
    advice: 'Send only the listed files, or create the descriptor again.',
  },
  'descriptor.file-changed': {
    meaning: 'the bytes of a file differ from the list',
    advice: 'Send the original files, or create the descriptor again.',
  },
  'descriptor.file-mode': {
    meaning: 'the executable bit of a file differs from the list',
    advice: 'Keep the mode of the file, or create the descriptor again.',
  },
  'strict.bom': { meaning: 'SKILL.md begins with a byte order mark', advice: 'Save the file without it.' },
  'strict.field-unknown': {
    meaning: 'a top-level key is not one of the six of the specification',
    advice: 'Move the key below metadata.',
  },
  'strict.name-missing': { meaning: 'name is missing, blank or not text', advice: 'Write the name of the folder.' },
  'strict.name-long': { meaning: 'name over 64 code points', advice: 'Shorten folder and name.' },
  'strict.name-case': { meaning: 'name is not lower case', advice: 'Write folder and name in lower case.' },
  'strict.name-hyphen': {
    meaning: 'name begins or ends with a hyphen, or has two in a row',
    advice: 'Use only single hyphens, inside the name.',
  },
  'strict.name-chars': {
    meaning: 'name has a character other than letters, digits and hyphens',
    advice: 'Use only letters, digits and hyphens.',
  },
  'strict.name-folder': { meaning: 'name differs from the folder name', advice: 'Give folder and name the same text.' },
  'strict.description-missing': {
    meaning: 'the description is missing, blank or not text',
    advice: 'Describe the purpose of the skill and when to use it.',
  },
  'strict.description-long': { meaning: 'description over 1024 code points', advice: 'Shorten it.' },
  'strict.compatibility': {
    meaning: 'compatibility is empty, over 500 code points or not text',
    advice: 'Write 1 to 500 characters, or remove the field.',
  },
  'strict.metadata': {
    meaning: 'metadata is not a map from strings to strings',
    advice: 'Put the values in quotes, and remove lists and maps.',
  },
};
