/** How much harm may be behind a finding. Nothing is done about it: whoever reads it decides. */
export type ScanSeverity = 'high' | 'medium' | 'low';

/** The severities, the gravest first. */
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

/** What a code of a finding means to people. */
export interface ScanRule {
  severity: ScanSeverity;
  /** What was found. */
  meaning: string;
  /** One line of advice. */
  advice: string;
}

const LOOK = 'Read the place, and take the skill only when you know why it is there.';
const NO_SECRETS = 'Replace the secret, which everybody has who has the skill, and leave it out.';

/** Every code that a finding may have. `docs/scan.md` is checked against it. */
export const SCAN_RULES: Readonly<Record<ScanCode, ScanRule>> = {
  'scan.hidden-message': {
    severity: 'high',
    meaning:
      'several characters in a row that nobody sees and a model reads: tags, variation selectors, characters without width',
    advice: 'Do not take the skill; nothing but a message to a model is written like this.',
  },
  'scan.bidi': {
    severity: 'high',
    meaning: 'a character that changes the order in which text is shown, so that people read something else',
    advice: 'Look at the line in an editor that shows such characters, and remove them.',
  },
  'scan.marker': {
    severity: 'high',
    meaning:
      'a mark with which prompts are put together: `[ACTIVE SKILLS]`, `<skill_content>`, tokens of chat templates',
    advice: 'Do not take the skill unless it is about prompts; its text pretends to be another part of one.',
  },
  'scan.override': {
    severity: 'high',
    meaning:
      'a phrase that talks a model out of its instructions, where people seldom look: in the frontmatter or a comment',
    advice: 'Do not take the skill.',
  },
  'scan.pipe-to-shell': {
    severity: 'high',
    meaning: 'something fetched or decoded goes straight into an interpreter, in any of the plain forms of `curl | sh`',
    advice: 'Have the file fetched, looked at, and compared with a digest, before it is run.',
  },
  'scan.download-and-run': {
    severity: 'high',
    meaning: 'a file is fetched, and run later in the same file',
    advice: 'Have the file compared with a digest before it is run, or put it into the skill.',
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
      'something is written to what a shell, a system or an agent reads when it starts: profiles, cron, hooks, AGENTS.md',
    advice: 'Do not run it outside of a sandbox.',
  },
  'scan.runs-by-itself': {
    severity: 'high',
    meaning:
      'a file that a tool runs without being asked to: `conftest.py`, `.pth`, lifecycle scripts of npm, git hooks',
    advice: 'Read the file, or leave it out; whoever only opens, tests or installs the folder runs it.',
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
    meaning: 'a control character that terminals obey: it hides text, writes over it, or asks for something',
    advice: 'Remove it; look at the file with `cat -v`, which shows such characters.',
  },
  'scan.hidden-text': {
    severity: 'medium',
    meaning: 'a character that nobody sees',
    advice: 'Remove it; `skillcell skills render` leaves it out of every prompt, other systems do not.',
  },
  'scan.look-alike': {
    severity: 'medium',
    meaning: 'a word that mixes alphabets whose letters look the same, or is written in letters made for formulas',
    advice: 'Write the word in one alphabet.',
  },
  'scan.role-marker': {
    severity: 'medium',
    meaning: 'a line that begins as a turn of a conversation or an element of a system prompt does',
    advice: 'Put examples of conversations into a code fence, or quote them.',
  },
  'scan.override-text': {
    severity: 'medium',
    meaning: 'a phrase that talks a model out of its instructions, keeps something from people, or goes round a check',
    advice: LOOK,
  },
  'scan.blob': {
    severity: 'medium',
    meaning: 'a long run of base64, hexadecimal digits or escapes, in which nothing else was looked for',
    advice: 'Put the file itself into the skill, and name where it comes from.',
  },
  'scan.environment-all': {
    severity: 'medium',
    meaning: 'all environment variables are read at once, whatever secrets are among them',
    advice: 'Read the variables by name that are needed.',
  },
  'scan.upload': {
    severity: 'medium',
    meaning: 'files or what was read are sent to an address',
    advice: 'Look at what is sent where.',
  },
  'scan.image-address': {
    severity: 'medium',
    meaning: 'the address of an image or link has a place for data, which showing it sends away',
    advice: 'Take the place out, unless it is an example that nobody fills in.',
  },
  'scan.writes-outside': {
    severity: 'medium',
    meaning: 'something is written, moved or removed outside of the skill and the folder that it works in',
    advice: 'Write below the working folder, or to $OUTPUT_DIR.',
  },
  'scan.reference-outside': {
    severity: 'medium',
    meaning: 'a link to a file that lies outside of the skill',
    advice: 'Put the file into the skill and refer to it there.',
  },
  'scan.link': {
    severity: 'medium',
    meaning: 'a link of the file system; it is not followed, and what it leads to is not looked at',
    advice: 'Put the file itself in its place.',
  },
  'scan.archive': {
    severity: 'medium',
    meaning: 'an archive within the skill; what is in it was not looked at',
    advice: 'Unpack it into the skill, or scan it by itself.',
  },
  'scan.office': {
    severity: 'medium',
    meaning: 'a document of an office program; what is in it was not looked at',
    advice: 'Open it where nothing can be lost, or ask for its text.',
  },
  'scan.unknown-bytes': {
    severity: 'medium',
    meaning: 'a file that is neither text nor of a kind that is known; it was searched as far as it can be read',
    advice: 'Ask what it is, and leave it out when the skill works without it.',
  },
  'scan.licence': {
    severity: 'medium',
    meaning: 'a licence that forbids copying or changing, or keeps all rights',
    advice: 'Ask whoever has the rights before the skill is copied.',
  },
  'scan.comment': {
    severity: 'low',
    meaning: 'a comment in Markdown, which nobody sees where it is shown, and a model reads',
    advice: 'Read it; what it says counts for the model as the rest does.',
  },
  'scan.environment': {
    severity: 'low',
    meaning: 'an environment variable is read',
    advice: 'See that it is one that the skill needs.',
  },
  'scan.network': {
    severity: 'low',
    meaning: 'something is fetched or connected to; a sandbox has no network',
    advice: 'See that the skill says why, and works without it.',
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
