import type { DiagnosticCode, DiagnosticText } from '../diagnostic-severities.ts';

type Code = Extract<
  DiagnosticCode,
  | `skill.${string}`
  | `frontmatter.${string}`
  | `override.${string}`
  | `root.${string}`
  | `compact.${string}`
  | `tools.${string}`
  | `sources.${string}`
  | `url.${string}`
  | `trigger.${string}`
>;

/** Texts of diagnostics from reading the files of skills. */
export const SKILL_FILE_TEXTS: Readonly<Record<Code, DiagnosticText>> = {
  'skill.missing': {
    meaning: 'the folder to validate holds no SKILL.md',
    advice: 'Name the folder that holds the SKILL.md, or write one.',
  },
  'skill.encoding': { meaning: 'SKILL.md is not UTF-8, or holds a NUL', advice: 'Save the file as UTF-8.' },
  'skill.too-large': {
    meaning: 'SKILL.md is over 1 MiB',
    advice: 'Move the details into files under references/ and name them in the body.',
  },
  'skill.file-case': {
    meaning: 'the file is called skill.md; it is still loaded',
    advice: 'Rename it to SKILL.md.',
  },
  'skill.file-name': {
    meaning: 'another spelling of SKILL.md (SKILL.MD, Skill.md); it is still loaded',
    advice: 'Rename it to SKILL.md.',
  },
  'skill.unreadable': {
    meaning:
      'SKILL.md is a folder, fifo, socket or device, or a needed file or folder may not be read; the skill is left out',
    advice: 'Replace it with a regular file, or change the permissions of the file or folder in the message.',
  },
  'skill.nested': {
    meaning: 'a SKILL.md below another skill; it is a file of the outer skill, not a skill',
    advice: 'Move the inner folder beside the outer one if it is a skill of its own, else rename its SKILL.md.',
  },
  'skill.link': {
    meaning: 'a symbolic link below the root; it is not followed, and its target is not loaded',
    advice: 'Replace the link with a copy of its target.',
  },
  'skill.path': {
    meaning:
      'no sandbox accepts the path of a file or folder: it has a control character, a backslash or bytes that are not UTF-8, is more than 63 names deep, or has over 3,840 bytes; or the entry is a fifo, a socket or a device; it is left out',
    advice: 'Rename it, or replace it with a regular file.',
  },
  'skill.hidden-text': {
    meaning: 'SKILL.md or compact.md holds hidden characters; they are left out of every prompt',
    advice: 'Look at the file in an editor that shows invisible characters; they may hide instructions.',
  },
  'frontmatter.missing': {
    meaning: 'the first line is not ---',
    advice: 'Begin the file with a line ---, the fields, and another line ---.',
  },
  'frontmatter.unclosed': {
    meaning: 'the file has no second line ---',
    advice: 'End the block with a line that is exactly ---.',
  },
  'frontmatter.language': {
    meaning: 'a language after the opening --- (---js, ---yaml)',
    advice: 'Remove the text after the first ---; the block is always YAML.',
  },
  'frontmatter.too-large': { meaning: 'the block is over 16 KiB', advice: 'Move long texts into the body.' },
  'frontmatter.yaml': {
    meaning: 'the block is not valid YAML here: syntax, a duplicate key, an alias, a tag outside the core schema',
    advice: 'Correct the named line; put values with special characters in quotes.',
  },
  'frontmatter.not-a-mapping': {
    meaning: 'the block is empty, a list or a scalar',
    advice: 'Write the fields as lines of `key: value`.',
  },
  'frontmatter.recovered': {
    meaning: 'a plain value held a colon and a space, or a quoted one continued without indentation; repaired and read',
    advice: 'Put the value in quotes and indent its next lines, so that every reader accepts it.',
  },
  'frontmatter.comment': {
    meaning:
      'YAML dropped the text after a space and # in a value without quotes; validation reports every case, loading only cases where # touches a letter or a digit',
    advice: 'Put the whole value in quotes if the text belongs to it, else move the comment to a line of its own.',
  },
  'skill.description-missing': {
    meaning: 'the description is missing, blank or not text',
    advice: 'Describe in one or two sentences the purpose of the skill and when to use it.',
  },
  'skill.description-long': {
    meaning: 'the description is over 1024 code points',
    advice: 'Shorten it; other readers refuse a longer one.',
  },
  'skill.name-mismatch': {
    meaning: 'name differs from the folder name',
    advice: 'Give folder and name the same text, or use displayName for the name that people read.',
  },
  'skill.field-type': {
    meaning: 'the value of a known key has a wrong shape; it is kept in extra',
    advice: 'Write the field in the shape that the message names.',
  },
  'skill.id-slugged': {
    meaning: 'the folder name is not a slug; the id was made from it',
    advice: 'Rename the folder to the id that the message names.',
  },
  'skill.id-invalid': {
    meaning: 'the slug of the folder name is empty; not loaded',
    advice: 'Rename the folder to lower-case letters, digits and single hyphens.',
  },
  'skill.duplicate': {
    meaning: 'a second skill with the same full id in the same root, with other content; not loaded',
    advice: 'Rename or delete one of the two folders.',
  },
  'skill.copy': {
    meaning: 'a second skill with the same full id in the same root, with the same digest; not loaded',
    advice: 'Delete the copies that you do not need.',
  },
  'skill.shadowed': {
    meaning: 'a skill of the same full id in a higher root replaces this one',
    advice: 'Rename the one below if both are meant to be there.',
  },
  'skill.namespace-reserved': {
    meaning: 'a skill outside the built-in root claims the namespace public or internal; it stays custom',
    advice: 'List the full id under overrides in the descriptor, or remove the claim.',
  },
  'skill.namespace-unknown': {
    meaning:
      'the root may not publish this namespace: it is not public, internal or custom, and not in custom_namespaces; ignored',
    advice: 'Add the namespace to custom_namespaces in the descriptor, or remove the claim.',
  },
  'override.unused': {
    meaning: 'no skill of a custom root claims this entry of overrides',
    advice: 'Correct the id, or remove it from the list.',
  },
  'root.missing': {
    meaning: 'the root does not exist or is not a folder',
    advice: 'Create the folder, or correct the path.',
  },
  'root.untrusted': {
    meaning: 'a project root of an untrusted project; not searched',
    advice: 'Trust the project if you know its skills.',
  },
  'root.depth': {
    meaning: 'folders below depth 6 were not searched; the message counts the SKILL.md files there',
    advice: 'Name a root that is nearer to the skills.',
  },
  'root.folders': {
    meaning: 'more than 5,000 folders; the rest was not searched; the message counts the SKILL.md files there',
    advice: 'Name a smaller root.',
  },
  'compact.invalid': {
    meaning: 'compact.md cannot be read as text; the skill stays without it',
    advice: 'Save compact.md as a UTF-8 file of at most 1 MiB.',
  },
  'tools.invalid': {
    meaning: 'tools.yaml cannot be read; the skill stays without tools',
    advice: 'Write a list of ids, or of maps with an id, under tools.',
  },
  'tools.entry': { meaning: 'an entry of tools.yaml without an id; dropped', advice: 'Give the entry an id.' },
  'tools.comment': {
    meaning: 'same as frontmatter.comment, in tools.yaml',
    advice: 'Put the whole value in quotes if the text belongs to it, else move the comment to a line of its own.',
  },
  'sources.invalid': {
    meaning: 'sources.yaml cannot be read; the skill stays without sources',
    advice: 'Write a list of rows under sources, or a map keyed by sid.',
  },
  'sources.entry': {
    meaning: 'a source without url and without local path; dropped',
    advice: 'Give the source a url or a local_path.',
  },
  'sources.sid': {
    meaning: 'the sid is not a positive integer; the row counts as a row without sid',
    advice: 'Number the source with a positive integer.',
  },
  'sources.duplicate-sid': {
    meaning: 'a second row with the same sid; dropped',
    advice: 'Give each source a sid of its own.',
  },
  'sources.base64': {
    meaning: 'base64 over 4,000 characters; dropped from the row',
    advice: 'Keep the content in a file beside sources.yaml and name it in local_path.',
  },
  'sources.comment': {
    meaning: 'same as frontmatter.comment, in sources.yaml',
    advice: 'Put the whole value in quotes if the text belongs to it, else move the comment to a line of its own.',
  },
  'url.not-http': {
    meaning: 'not a valid http or https URL; kept as text',
    advice: 'Write the full address with http:// or https://.',
  },
  'trigger.pattern': {
    meaning: 'a pattern is refused: syntax, look-around, back-reference, over 512 characters',
    advice: 'Write it in RE2 syntax, without look-around and back-references.',
  },
  'trigger.too-many': {
    meaning: 'more than 50 patterns; the rest is dropped',
    advice: 'Join patterns, or use keywords.',
  },
  'skill.empty-body': {
    meaning: 'nothing to render; the skill is left out of the block',
    advice: 'Write the instructions below the frontmatter.',
  },
};
