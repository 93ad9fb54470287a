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

/** What is found while the files of skills are read. */
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
    meaning: 'the file is called skill.md; it is loaded all the same',
    advice: 'Rename it to SKILL.md.',
  },
  'skill.file-name': {
    meaning: 'another spelling of SKILL.md (SKILL.MD, Skill.md); it is loaded all the same',
    advice: 'Rename it to SKILL.md.',
  },
  'skill.unreadable': {
    meaning: 'SKILL.md is a folder, fifo, socket or device, or what is needed of the skill may not be read; left out',
    advice: 'Put a regular file in its place, or change the rights of what the message names.',
  },
  'skill.nested': {
    meaning: 'a SKILL.md below another skill; a file of that one, no skill',
    advice: 'Move the inner folder beside the outer one if it is a skill of its own, else rename its SKILL.md.',
  },
  'skill.link': {
    meaning: 'a symbolic link below the root; never followed, what it names is not loaded',
    advice: 'Copy what the link names to its place.',
  },
  'skill.path': {
    meaning:
      'a file or folder of a skill whose path no sandbox takes: with a control character, a backslash or bytes that are no UTF-8, more than 63 names deep, or over 3,840 bytes; or a fifo, a socket or a device; it is left out',
    advice: 'Give it another name, or put a regular file in its place.',
  },
  'skill.hidden-text': {
    meaning: 'SKILL.md or compact.md holds hidden characters; they are left out of every prompt',
    advice:
      'Look at the file with an editor that shows invisible characters; somebody may have hidden instructions there.',
  },
  'frontmatter.missing': {
    meaning: 'the first line is not ---',
    advice: 'Begin the file with a line ---, the fields, and another line ---.',
  },
  'frontmatter.unclosed': {
    meaning: 'no second line that is ---',
    advice: 'End the block with a line that is exactly ---.',
  },
  'frontmatter.language': {
    meaning: 'a language after the opening --- (---js, ---yaml)',
    advice: 'Take away what follows the first ---; the block is always YAML.',
  },
  'frontmatter.too-large': { meaning: 'the block is over 16 KiB', advice: 'Move long texts into the body.' },
  'frontmatter.yaml': {
    meaning: 'the block is no valid YAML for us: syntax, a duplicate key, an alias, a tag outside the core schema',
    advice: 'Correct the named line; put values with special characters in quotes.',
  },
  'frontmatter.not-a-mapping': {
    meaning: 'the block is empty, a list or a scalar',
    advice: 'Write the fields as lines of `key: value`.',
  },
  'frontmatter.recovered': {
    meaning: 'a plain value held a colon and a blank, or a quoted one went on without indentation; repaired and read',
    advice: 'Put the value in quotes and indent its next lines, so that every reader takes it.',
  },
  'frontmatter.comment': {
    meaning:
      'YAML dropped the text behind a blank and # at a value without quotes; validation reports each, loading the ones where # touches a letter or a digit',
    advice: 'Put the whole value in quotes if the text belongs to it, else move the comment to a line of its own.',
  },
  'skill.description-missing': {
    meaning: 'no description, or a blank one, or no text',
    advice: 'Write in one or two sentences what the skill does and when to use it.',
  },
  'skill.description-long': {
    meaning: 'the description is over 1024 code points',
    advice: 'Shorten it; other readers refuse a longer one.',
  },
  'skill.name-mismatch': {
    meaning: 'name is not the folder name',
    advice: 'Give folder and name the same text, or use displayName for what people read.',
  },
  'skill.field-type': {
    meaning: 'a known key has a value of an unusable shape; it is kept in extra',
    advice: 'Write the field in the shape that the message names.',
  },
  'skill.id-slugged': {
    meaning: 'the folder name is no slug; the id was made from it',
    advice: 'Rename the folder to the id that the message names.',
  },
  'skill.id-invalid': {
    meaning: 'nothing is left of the folder name when it is slugged; not loaded',
    advice: 'Rename the folder to lower-case letters, digits and single hyphens.',
  },
  'skill.duplicate': {
    meaning: 'a second skill of one full id in one root, with other content; not loaded',
    advice: 'Rename one of the two folders, or delete one.',
  },
  'skill.copy': {
    meaning: 'a second skill of one full id in one root, with the same digest; not loaded',
    advice: 'Delete the copies that nobody needs.',
  },
  'skill.shadowed': {
    meaning: 'a skill of the same full id in a higher root replaces this one',
    advice: 'Rename the one below if both are meant to be there.',
  },
  'skill.namespace-reserved': {
    meaning: 'public or internal claimed outside the built-in root; stays custom',
    advice: 'List the full id under overrides in the descriptor, or take the claim away.',
  },
  'skill.namespace-unknown': {
    meaning:
      'namespace is none that the root may publish: not public, internal or custom, and not in custom_namespaces; ignored',
    advice: 'Add the namespace to custom_namespaces in the descriptor, or take the claim away.',
  },
  'override.unused': {
    meaning: 'an entry of overrides that no skill of a custom root claims',
    advice: 'Correct the id, or take it from the list.',
  },
  'root.missing': {
    meaning: 'the root is not there or is no folder',
    advice: 'Create the folder, or correct the path.',
  },
  'root.untrusted': {
    meaning: 'a project root of an untrusted project; not searched',
    advice: 'Trust the project if you know its skills.',
  },
  'root.depth': {
    meaning: 'folders below depth 6 were not searched; says how many SKILL.md lie there',
    advice: 'Name a root that is nearer to the skills.',
  },
  'root.folders': {
    meaning: 'more than 5,000 folders; the rest was not searched; says how many SKILL.md lie there',
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
    meaning: 'the same in tools.yaml as frontmatter.comment',
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
    meaning: 'a sid that is no positive integer; the row counts as one without sid',
    advice: 'Number the source with a positive integer.',
  },
  'sources.duplicate-sid': {
    meaning: 'a second row of one sid; dropped',
    advice: 'Give each source a sid of its own.',
  },
  'sources.base64': {
    meaning: 'base64 over 4,000 characters; dropped from the row',
    advice: 'Keep the content in a file beside sources.yaml and name it by local_path.',
  },
  'sources.comment': {
    meaning: 'the same in sources.yaml as frontmatter.comment',
    advice: 'Put the whole value in quotes if the text belongs to it, else move the comment to a line of its own.',
  },
  'url.not-http': {
    meaning: 'no valid http or https URL; kept as text',
    advice: 'Write the full address with http:// or https://.',
  },
  'trigger.pattern': {
    meaning: 'a pattern that is refused: syntax, look-around, back-reference, over 512 characters',
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
