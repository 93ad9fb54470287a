/** Possible harm behind a finding. A finding blocks nothing: its reader decides. */
export type ScanSeverity = 'high' | 'medium' | 'low';

/** The severities, from highest to lowest. */
export const SCAN_SEVERITIES: readonly ScanSeverity[] = ['high', 'medium', 'low'];

/** A code of a finding. */
export type ScanCode =
  | 'scan.hidden-message'
  | 'scan.bidi'
  | 'scan.marker'
  | 'scan.override'
  | 'scan.pipe-to-shell'
  | 'scan.download-and-run'
  | 'scan.credential'
  | 'scan.secret-files'
  | 'scan.persistence'
  | 'scan.runs-by-itself'
  | 'scan.binary-code'
  | 'scan.office-macro'
  | 'scan.terminal'
  | 'scan.hidden-text'
  | 'scan.look-alike'
  | 'scan.role-marker'
  | 'scan.override-text'
  | 'scan.blob'
  | 'scan.environment-all'
  | 'scan.upload'
  | 'scan.image-address'
  | 'scan.writes-outside'
  | 'scan.reference-outside'
  | 'scan.link'
  | 'scan.archive'
  | 'scan.office'
  | 'scan.unknown-bytes'
  | 'scan.licence'
  | 'scan.comment'
  | 'scan.environment'
  | 'scan.network'
  | 'scan.reference-missing'
  | 'scan.build-file';

/** Meaning of a code, for people. */
export interface ScanRule {
  severity: ScanSeverity;
  /** One line: the thing that was found. */
  meaning: string;
  /** One line of advice. */
  advice: string;
}

const LOOK = 'Read the line, and use the skill only if you know why the line is there.';
const NO_SECRETS = 'Remove the secret from the skill and replace it: everyone with a copy of the skill has it.';

/** Every code that a finding may have. The table in `docs/scan.md` is generated from it. */
export const SCAN_RULES: Readonly<Record<ScanCode, ScanRule>> = {
  'scan.hidden-message': {
    severity: 'high',
    meaning:
      'several invisible characters in a row that a model reads: tags, variation selectors, zero-width characters',
    advice: 'Do not use the skill; only a hidden message to a model is written like this.',
  },
  'scan.bidi': {
    severity: 'high',
    meaning: 'a character that changes the order in which text is shown, so that people read something else',
    advice: 'Look at the line in an editor that shows such characters, and remove them.',
  },
  'scan.marker': {
    severity: 'high',
    meaning: 'a marker that prompts are assembled with: `[ACTIVE SKILLS]`, `<skill_content>`, tokens of chat templates',
    advice: 'Do not use the skill unless it is about prompts; its text pretends to be another part of a prompt.',
  },
  'scan.override': {
    severity: 'high',
    meaning:
      'a phrase that tells a model to ignore its instructions, where people seldom look: in the frontmatter or a comment',
    advice: 'Do not use the skill.',
  },
  'scan.pipe-to-shell': {
    severity: 'high',
    meaning: 'fetched or decoded data goes straight into an interpreter, in any of the plain forms of `curl | sh`',
    advice: 'Fetch the file, read it, and compare it with a digest before you run it.',
  },
  'scan.download-and-run': {
    severity: 'high',
    meaning: 'a file is fetched, and run later in the same file',
    advice: 'Compare the file with a digest before you run it, or put it into the skill.',
  },
  'scan.credential': {
    severity: 'high',
    meaning: 'a key, a token or a private key, by its form; the message does not repeat it',
    advice: NO_SECRETS,
  },
  'scan.secret-files': {
    severity: 'high',
    meaning: 'a place where people keep their secrets: SSH keys, credentials of clouds, key chains, cookies',
    advice: LOOK,
  },
  'scan.persistence': {
    severity: 'high',
    meaning:
      'a write to a file that a shell, a system or an agent reads when it starts: profiles, cron, hooks, AGENTS.md',
    advice: 'Do not run it outside of a sandbox.',
  },
  'scan.runs-by-itself': {
    severity: 'high',
    meaning:
      'a file that a tool runs without being asked to: `conftest.py`, `.pth`, lifecycle scripts of npm, git hooks',
    advice: 'Read the file, or leave it out; opening, testing or installing the folder may run it.',
  },
  'scan.binary-code': {
    severity: 'high',
    meaning: 'compiled code whose source is not in the skill: bytecode, libraries, programs, WebAssembly',
    advice: 'Ask for the source and build it yourself.',
  },
  'scan.office-macro': {
    severity: 'high',
    meaning: 'a document with macros, which run when it is opened',
    advice: 'Ask for the document without macros.',
  },
  'scan.terminal': {
    severity: 'medium',
    meaning:
      'a control character that terminals obey: it hides text, overwrites text, or sends a request to the terminal',
    advice: 'Remove it; look at the file with `cat -v`, which shows such characters.',
  },
  'scan.hidden-text': {
    severity: 'medium',
    meaning: 'an invisible character',
    advice: 'Remove it; `skillcell skills render` leaves it out of every prompt, other systems do not.',
  },
  'scan.look-alike': {
    severity: 'medium',
    meaning: 'a word that mixes alphabets whose letters look the same, or is written in letters made for formulas',
    advice: 'Write the word in one alphabet.',
  },
  'scan.role-marker': {
    severity: 'medium',
    meaning: 'a line that begins like a turn of a conversation or an element of a system prompt',
    advice: 'Put examples of conversations into a code fence, or quote them.',
  },
  'scan.override-text': {
    severity: 'medium',
    meaning:
      'a phrase that tells a model to ignore its instructions, to keep something from people, or to bypass a check',
    advice: LOOK,
  },
  'scan.blob': {
    severity: 'medium',
    meaning: 'a long run of base64, hexadecimal digits or escapes, whose decoded content was not scanned',
    advice: 'Put the file itself into the skill, and name where it comes from.',
  },
  'scan.environment-all': {
    severity: 'medium',
    meaning: 'all environment variables are read at once, with any secrets among them',
    advice: 'Read only the needed variables, by name.',
  },
  'scan.upload': {
    severity: 'medium',
    meaning: 'files or environment variables are sent to an address',
    advice: 'Check the data and the address.',
  },
  'scan.image-address': {
    severity: 'medium',
    meaning:
      'the address of an image or link has a place for data; showing the image or link sends the data to that address',
    advice: 'Remove the place, unless it is an example that is never filled in.',
  },
  'scan.writes-outside': {
    severity: 'medium',
    meaning: 'files are written, moved or removed outside of the skill and its working folder',
    advice: 'Write below the working folder, or to $OUTPUT_DIR.',
  },
  'scan.reference-outside': {
    severity: 'medium',
    meaning: 'a link to a file that lies outside of the skill',
    advice: 'Put the file into the skill and refer to it there.',
  },
  'scan.link': {
    severity: 'medium',
    meaning: 'a link of the file system; it is not followed, and its target is not scanned',
    advice: 'Replace the link with the file itself.',
  },
  'scan.archive': {
    severity: 'medium',
    meaning: 'an archive within the skill; its content was not scanned',
    advice: 'Unpack it into the skill, or scan it by itself.',
  },
  'scan.office': {
    severity: 'medium',
    meaning: 'a document of an office program; its content was not scanned',
    advice: 'Open it in a safe place, or ask for its text.',
  },
  'scan.unknown-bytes': {
    severity: 'medium',
    meaning: 'a file that is neither text nor a known format; its readable parts were scanned',
    advice: 'Ask for its purpose, and leave it out if the skill works without it.',
  },
  'scan.licence': {
    severity: 'medium',
    meaning: 'a licence that forbids copying or changing, or keeps all rights',
    advice: 'Ask the holder of the rights before you copy the skill.',
  },
  'scan.comment': {
    severity: 'low',
    meaning: 'a comment in Markdown: rendered pages hide it, but a model reads it',
    advice: 'Read it; a model treats it like the rest of the text.',
  },
  'scan.environment': {
    severity: 'low',
    meaning: 'an environment variable is read',
    advice: 'Check that the skill needs it.',
  },
  'scan.network': {
    severity: 'low',
    meaning: 'a program connects to the network; a sandbox has no network',
    advice: 'Check that the skill gives a reason, and works without it.',
  },
  'scan.reference-missing': {
    severity: 'low',
    meaning: 'a link to a file that is not in the skill',
    advice: 'Add the file, or mend the link.',
  },
  'scan.build-file': {
    severity: 'low',
    meaning:
      'a file that a tool runs when it is called in this folder: a Makefile, setup.py, a configuration that is code',
    advice: 'Read it before you call the tool.',
  },
};
