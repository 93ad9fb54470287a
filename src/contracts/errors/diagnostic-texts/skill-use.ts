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

/** What is found when skills are selected, rendered, sent and validated strictly. */
export const SKILL_USE_TEXTS: Readonly<Record<Code, DiagnosticText>> = {
  'policy.pattern-unused': {
    meaning: 'a pattern of agents_config that matches no loaded skill',
    advice: 'Correct the pattern; `skillcell skills list --include-internal` shows the ids.',
  },
  'policy.star-enabled': {
    meaning: 'enabled under the consumer "*"; it has no effect',
    advice: 'List the skills under each consumer, or use disabled.',
  },
  'import.unknown': {
    meaning: 'an import of a skill that is not loaded; the importer stays',
    advice: 'Correct the id, or add the skill.',
  },
  'import.cycle': {
    meaning: 'an import that leads back to a skill that is being expanded; dropped',
    advice: 'Take one of the imports away.',
  },
  'import.denied': {
    meaning: 'an import that disabled matches; dropped, the importer stays',
    advice: 'Take the skill from disabled, or the import away.',
  },
  'import.depth': {
    meaning: 'an import deeper than 32; dropped',
    advice: 'Import what is needed from a skill nearer to the top.',
  },
  'import.limit': {
    meaning: 'more than 200 skills in one expansion; the rest is dropped',
    advice: 'Ask for fewer skills, or import fewer.',
  },
  'render.escaped': {
    meaning: 'lines inside a code fence look like our markers and got a backslash, which changes code',
    advice: 'Write these lines of the example in another way if the backslash matters.',
  },
  'citation.unmapped': {
    meaning: 'an id that the sources of the skill do not have; dropped',
    advice: 'Add the source to sources.yaml, or take the number from the text.',
  },
  'citation.invalid': {
    meaning: 'a part of a token that is neither a number nor a range; dropped',
    advice: 'Write numbers and ranges: [[S:1,3-5]].',
  },
  'citation.range': {
    meaning: 'a range of more than 1,000 ids; the token is removed',
    advice: 'Cite the sources that are meant.',
  },
  'descriptor.invalid': {
    meaning: 'not the shape of a descriptor',
    advice: 'Correct the named field; `skillcell skills descriptor` prints a valid one.',
  },
  'descriptor.schema': {
    meaning: 'a schema that we do not know',
    advice: 'Use a descriptor of this version; `skillcell skills descriptor` prints one.',
  },
  'descriptor.root-unresolved': {
    meaning: 'a relative custom_skills_root and no bundle_root',
    advice: 'Give an absolute custom_skills_root, or a bundle_root.',
  },
  'descriptor.digest': {
    meaning: 'the digest of the descriptor is not that of its content',
    advice: 'Make the descriptor anew; somebody changed it.',
  },
  'descriptor.skill-digest': {
    meaning: 'the digest of a skill is not that of its list of files',
    advice: 'Make the descriptor anew; somebody changed it.',
  },
  'descriptor.path': {
    meaning: 'a path that is absolute, climbs, is not normal or is listed twice',
    advice: 'Make the descriptor anew; no skill of ours has such a path.',
  },
  'descriptor.file-missing': { meaning: 'a listed file did not arrive', advice: 'Send all files of the skill.' },
  'descriptor.file-extra': {
    meaning: 'a file arrived that is not listed',
    advice: 'Send the listed files only, or make the descriptor anew.',
  },
  'descriptor.file-changed': {
    meaning: 'the bytes of a file are not those listed',
    advice: 'Send the files as they were, or make the descriptor anew.',
  },
  'descriptor.file-mode': {
    meaning: 'the executable bit of a file is not the one listed',
    advice: 'Keep the mode of the file, or make the descriptor anew.',
  },
  'strict.bom': { meaning: 'SKILL.md begins with a byte order mark', advice: 'Save the file without it.' },
  'strict.field-unknown': {
    meaning: 'a top-level key outside the six of the specification',
    advice: 'Move the key below metadata.',
  },
  'strict.name-missing': { meaning: 'no name, or a blank one, or no text', advice: 'Write the name of the folder.' },
  'strict.name-long': { meaning: 'name over 64 code points', advice: 'Shorten folder and name.' },
  'strict.name-case': { meaning: 'name is not lower case', advice: 'Write folder and name in lower case.' },
  'strict.name-hyphen': {
    meaning: 'a hyphen at an end of name, or two in a row',
    advice: 'Use single hyphens inside the name only.',
  },
  'strict.name-chars': {
    meaning: 'something in name that is no letter, digit or hyphen',
    advice: 'Use letters, digits and hyphens only.',
  },
  'strict.name-folder': { meaning: 'name is not the folder name', advice: 'Give folder and name the same text.' },
  'strict.description-missing': {
    meaning: 'no description, or a blank one, or no text',
    advice: 'Write what the skill does and when to use it.',
  },
  'strict.description-long': { meaning: 'description over 1024 code points', advice: 'Shorten it.' },
  'strict.compatibility': {
    meaning: 'compatibility is empty, over 500 code points or no text',
    advice: 'Write 1 to 500 characters, or take the field away.',
  },
  'strict.metadata': {
    meaning: 'metadata is no map from strings to strings',
    advice: 'Put the values in quotes, and lists and maps away.',
  },
};
