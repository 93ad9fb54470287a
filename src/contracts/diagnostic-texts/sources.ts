import type { DiagnosticText } from '../diagnostic-severities.ts';
import type { LibraryCode } from '../library-severities.ts';

/** What is found in a source, whatever holds it. */
export const SOURCE_TEXTS: Readonly<Record<Extract<LibraryCode, `source.${string}`>, DiagnosticText>> = {
  'source.manifest': {
    meaning:
      'a marketplace.json or plugin.json, or an entry of it, cannot be used: no JSON, too large, too deep, a key that could reach a prototype, or a field of a wrong type',
    advice: 'Mend the file; what it does not list is still found where skills usually lie.',
  },
  'source.path': {
    meaning:
      'a path in a marketplace.json or plugin.json is absolute, leaves the source, or cannot be the path of a file',
    advice: 'Name a folder inside the source, beginning with `./`.',
  },
  'source.missing': {
    meaning: 'a marketplace.json or plugin.json lists a folder that is not there or holds no SKILL.md',
    advice: 'Correct the path, or take the entry out.',
  },
  'source.unsupported': {
    meaning: 'a plugin lies where it is not read from: in a package of npm, or at an address that is no plain https',
    advice: 'Add it from its git repository, if it has one.',
  },
  'source.elsewhere': {
    meaning: 'a marketplace lists a plugin that lies in another repository',
    advice: 'Add it from there: the message has the address.',
  },
  'source.twice': {
    meaning: 'more than one plugin lists the same skill; it is taken once',
    advice: 'Nothing has to be done.',
  },
  'source.collision': {
    meaning:
      'a skill is left out that holds two names which are one on systems that fold case, compose accents or know no full-width letters',
    advice: 'Rename one of the two.',
  },
  'source.left-out': {
    meaning:
      'what is there is not taken: .git, node_modules, a device, or a skill that the plugin asked for does not bring',
    advice: 'Nothing has to be done, unless the skill needs it.',
  },
  'source.submodule': {
    meaning: 'the source has a submodule, which is another repository; it is not fetched',
    advice: 'Add that repository as a source of its own.',
  },
  'source.lfs': {
    meaning: 'a file is only a pointer of Git LFS; the content that it stands for is not fetched',
    advice: 'Keep files that a skill needs in the repository itself.',
  },
  'source.skill': {
    meaning:
      'the bytes of a skill are refused: they are not those that the source lists, or an archive that is not read; it is not taken, and the others are',
    advice: 'Tell whoever publishes the skill; the message says what is wrong. Asked for by name, it is an error.',
  },
  'source.unavailable': {
    meaning: 'a plugin that lies in another repository is not taken: that cannot be read',
    advice: 'Try again later, or add that repository by itself; the message says what is wrong.',
  },
};
