import type { DiagnosticText } from '../diagnostic-severities.ts';
import type { LibraryCode } from '../library-severities.ts';

/** What is found in a source, whatever holds it. */
const SOURCE_TEXTS: Readonly<Record<Extract<LibraryCode, `source.${string}`>, DiagnosticText>> = {
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

/** What is found in a bucket. */
const S3_TEXTS: Readonly<Record<Extract<LibraryCode, `s3.${string}`>, DiagnosticText>> = {
  's3.key': {
    meaning:
      'a key names no file: it has `..`, an empty name, a slash at an end, one written with a percent sign, a backslash, a control or hidden character, or is no UTF-8; it is left out, and never read as another key',
    advice: 'Give the object a plain key, or remove it.',
  },
  's3.twin': {
    meaning: 'two keys differ in nothing but how accents are composed; one of them is left out',
    advice: 'Remove or rename one of the objects.',
  },
  's3.shadowed': {
    meaning: 'a key is that of a file and of a folder, such as `blue` beside `blue/image.jpg`; the file is left out',
    advice: 'Rename one of them.',
  },
  's3.too-many': {
    meaning: 'there are more keys below the prefix than are read; what lies behind them is left out',
    advice: 'Put skills below prefixes of their own, a user or team each.',
  },
  's3.publication': {
    meaning: '`.skillcell.json` beside a skill was not written by skillcell; the skill is read without it',
    advice: 'Remove the object, or put the skill again.',
  },
};

const BRING_BACK =
  '`skillcell skills install` brings back what is locked; `update` and `add` take what the source has.';

/** What is found where skills are locked. */
const LOCK_TEXTS: Readonly<Record<Extract<LibraryCode, `lock.${string}`>, DiagnosticText>> = {
  'lock.changed': {
    meaning: 'a file of a locked skill has other bytes, or another mode, than are locked',
    advice: BRING_BACK,
  },
  'lock.missing': { meaning: 'a file of a locked skill is not there', advice: BRING_BACK },
  'lock.added': {
    meaning: 'the folder of a locked skill holds what is not locked: a file, a link, or a folder that loaders skip',
    advice: 'Move it away, or take it into the skill where that comes from.',
  },
  'lock.not-approved': {
    meaning: 'with --frozen, a skill is left out whose bytes are not locked, or which nobody has approved',
    advice: 'Look at the skill, then `skillcell skills approve REF --as WHO`.',
  },
  'lock.imported': {
    meaning: 'a skill that was removed is imported by one that stays',
    advice: 'Remove that one too, take the import out of it, or add the skill again.',
  },
  'lock.beside': {
    meaning: 'a skills-lock.json lies beside the lock file that is written; it is left as it is',
    advice: '`skillcell skills verify` compares the skills of both; add those of skills-lock.json to have one file.',
  },
};

/** What is found in the lists of skills that web sites and MCP servers have. */
const INDEX_TEXTS: Readonly<Record<'index.entry' | 'index.duplicate' | 'index.no-digest', DiagnosticText>> = {
  'index.entry': {
    meaning: 'an entry of the list of skills is not as its format says, or names no digest, and is left out',
    advice: 'Tell whoever publishes the skills; docs/web-sources.md has what an entry needs.',
  },
  'index.duplicate': {
    meaning: 'two entries of the list of skills have one name; the first one stays',
    advice: 'Tell whoever publishes the skills.',
  },
  'index.no-digest': {
    meaning: 'the list of skills is of an older version, whose entries have no digests',
    advice: 'What was read is locked by its own digest; only the list cannot say whether it is what was meant.',
  },
};

const AGAIN = 'Pack the skill anew, by `skillcell skills pack` for example.';
const RENAME = 'Rename the file, and pack the skill anew.';

/** What is found where skills come from. */
export const LIBRARY_TEXTS: Readonly<Record<LibraryCode, DiagnosticText>> = {
  'zip.format': { meaning: 'the file is no whole archive of its kind', advice: AGAIN },
  'zip.entries': {
    meaning: 'the archive has more than 500 entries',
    advice: 'Pack one skill an archive, without what it does not need.',
  },
  'zip.name': {
    meaning:
      'an entry has a path that not every system can have: absolute, with `..`, a backslash, a control or hidden character, too long, or a name that Windows keeps for itself',
    advice: RENAME,
  },
  'zip.link': {
    meaning: 'an entry is a link, a device, a fifo or a socket',
    advice: 'Put the file itself in its place, and pack the skill anew.',
  },
  'zip.duplicate': { meaning: 'two entries have one name', advice: AGAIN },
  'zip.collision': {
    meaning: 'two names are one on systems that fold case, compose accents or know no full-width letters',
    advice: RENAME,
  },
  'zip.file-folder': { meaning: 'a name is that of a file and of a folder', advice: RENAME },
  'zip.size': {
    meaning: 'the archive unpacks to more than 50 MiB, or an entry has other bytes than it declares',
    advice: 'Leave large files out of the skill.',
  },
  'zip.overlap': { meaning: 'two entries lie in the same bytes of the archive', advice: AGAIN },
  'zip.encrypted': {
    meaning: 'the archive, or an entry of it, is encrypted',
    advice: 'Pack the skill without a password.',
  },
  'zip.method': {
    meaning: 'an entry is compressed in another way than deflate',
    advice: 'Pack the skill with deflate, which is what all tools do by default.',
  },
  'zip.disks': { meaning: 'the archive is one part of several', advice: 'Pack the skill into one file.' },
  'zip.zip64': {
    meaning: 'the archive has sizes or offsets that are missing or over what a number holds',
    advice: AGAIN,
  },
  'zip.header': {
    meaning: 'what stands in front of an entry says something else of it than the directory',
    advice: AGAIN,
  },
  'zip.ambiguous': {
    meaning: 'the archive can be read in two ways: something lies before, behind or between its parts',
    advice: AGAIN,
  },
  'zip.data': { meaning: 'the data of an entry cannot be inflated', advice: AGAIN },
  'zip.checksum': { meaning: 'the data of an entry has another checksum than is declared', advice: AGAIN },
  'tar.format': { meaning: 'the file is no whole archive of its kind', advice: AGAIN },
  'tar.entries': {
    meaning: 'the archive has more than 500 entries',
    advice: 'Pack one skill an archive, without what it does not need.',
  },
  'tar.name': {
    meaning:
      'an entry has a path that not every system can have: absolute, with `..`, a backslash, a control or hidden character, too long, or a name that Windows keeps for itself',
    advice: RENAME,
  },
  'tar.link': {
    meaning: 'an entry is a link, a device, a fifo, or of another kind than a file and a folder',
    advice: 'Put the file itself in its place, and pack the skill anew.',
  },
  'tar.duplicate': { meaning: 'two entries have one name', advice: AGAIN },
  'tar.collision': {
    meaning: 'two names are one on systems that fold case, compose accents or know no full-width letters',
    advice: RENAME,
  },
  'tar.file-folder': { meaning: 'a name is that of a file and of a folder', advice: RENAME },
  'tar.size': {
    meaning: 'the archive unpacks to more than 50 MiB, or an entry has other bytes than it declares',
    advice: 'Leave large files out of the skill.',
  },
  'tar.header': {
    meaning: 'what stands in front of an entry is written in a way that programs read differently',
    advice: AGAIN,
  },
  'tar.ambiguous': {
    meaning: 'the archive can be read in two ways: it has no end, something lies behind it, or a name is given twice',
    advice: AGAIN,
  },
  'tar.checksum': { meaning: 'the data of the archive has another checksum than is declared', advice: AGAIN },
  'archive.size': {
    meaning: 'the archive has more than 10 MiB',
    advice: 'Leave large files out of the skill.',
  },
  'archive.skill': {
    meaning: 'the archive holds no SKILL.md at its root or in one folder, or more than one skill',
    advice: 'Pack the folder of one skill, by `skillcell skills pack` for example.',
  },
  'archive.left-out': {
    meaning:
      'the archive holds what systems and tools leave beside the files of people, such as __MACOSX or .git; it is left out',
    advice: 'Nothing has to be done; `skillcell skills pack` leaves it out as well.',
  },
  ...LOCK_TEXTS,
  'archive.beside': {
    meaning: 'the archive holds files beside the folder of the skill; they are no part of it, and left out',
    advice: 'Nothing has to be done; pack the folder of the skill alone.',
  },
  ...SOURCE_TEXTS,
  ...INDEX_TEXTS,
  'store.stale': {
    meaning: 'a store is out of reach, and its skills are those of its last good list',
    advice: 'Nothing, if that will do; `stale: "refuse"` refuses instead.',
  },
  'store.missing': {
    meaning: 'a store is out of reach, and what a skill of it says is not in the cache; it is not loaded',
    advice: 'Try again when the store answers.',
  },
  'trust.changed': {
    meaning: 'the skills of a project are other ones than those that were trusted; none of them is loaded',
    advice: 'Look at what has changed, then `skillcell skills trust`; with --follow changes are trusted as well.',
  },
  'search.not-kept': {
    meaning: 'the index of a search cannot be written to the cache; the search has answered all the same',
    advice: 'Name a folder that can be written by XDG_CACHE_HOME, or each process builds the index again.',
  },
  ...S3_TEXTS,
  'trust.outside': {
    meaning: 'a folder of skills of a project lies outside the project, behind a link; it is not read',
    advice: 'Put the skills into the project, or name their folder by --root.',
  },
  'trust.ignored': {
    meaning: 'what says which projects are trusted cannot be relied on, so that none is',
    advice: 'Look at the file that the message names; remove it, and trust the projects anew.',
  },
};
