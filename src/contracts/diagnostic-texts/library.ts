import type { DiagnosticText } from '../diagnostic-severities.ts';
import type { LibraryCode } from '../library-severities.ts';
import { LOCK_TEXTS } from './lock.ts';
import { SOURCE_TEXTS } from './sources.ts';
import { INDEX_TEXTS } from './library-index.ts';
import { S3_TEXTS } from './s3.ts';

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
