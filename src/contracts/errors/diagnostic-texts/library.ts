import type { DiagnosticText } from '../diagnostic-severities.ts';
import type { LibraryCode } from '../library-severities.ts';

/** Texts of diagnostics about sources of any kind. */
const SOURCE_TEXTS: Readonly<Record<Extract<LibraryCode, `source.${string}`>, DiagnosticText>> = {
  'source.manifest': {
    meaning:
      'a marketplace.json or plugin.json, or an entry of it, cannot be used: no JSON, too large, too deep, a key that could reach a prototype, or a field of a wrong type',
    advice: 'Correct the file; skills that it does not list are still found in the usual folders.',
  },
  'source.path': {
    meaning:
      'a path in a marketplace.json or plugin.json is absolute, leaves the source, or cannot be the path of a file',
    advice: 'Name a folder inside the source, beginning with `./`.',
  },
  'source.missing': {
    meaning: 'a marketplace.json or plugin.json lists a folder that does not exist or holds no SKILL.md',
    advice: 'Correct the path, or remove the entry.',
  },
  'source.unsupported': {
    meaning: 'the place of a plugin is not supported: an npm package, or an address that is not plain https',
    advice: 'Add it from its git repository, if it has one.',
  },
  'source.elsewhere': {
    meaning: 'a marketplace lists a plugin of another repository',
    advice: 'Add it from that repository: the message has the address.',
  },
  'source.twice': {
    meaning: 'more than one plugin lists the same skill; it is taken once',
    advice: 'Nothing to do.',
  },
  'source.collision': {
    meaning:
      'a skill with two file names is left out: they are the same on systems that fold case, compose accents or replace full-width letters',
    advice: 'Rename one of the two.',
  },
  'source.left-out': {
    meaning:
      'part of the source is left out: .git, node_modules, a device, or a skill that the requested plugin does not contain',
    advice: 'Nothing to do, unless the skill needs it.',
  },
  'source.submodule': {
    meaning: 'the source has a submodule; submodules are other repositories and are not fetched',
    advice: 'Add that repository as a source of its own.',
  },
  'source.lfs': {
    meaning: 'a file is only a Git LFS pointer; its content is not fetched',
    advice: 'Keep files that a skill needs in the repository itself.',
  },
  'source.skill': {
    meaning:
      'the bytes of a skill are refused: their digest differs from the list of the source, or its archive cannot be read; the other skills are taken',
    advice:
      'Tell the publisher of the skill; the message has the cause. If you ask for the skill by name, it is an error.',
  },
  'source.unavailable': {
    meaning: 'a plugin of another repository is left out: that repository cannot be read',
    advice: 'Try again later, or add that repository by itself; the message has the cause.',
  },
};

/** Texts of diagnostics about buckets. */
const S3_TEXTS: Readonly<Record<Extract<LibraryCode, `s3.${string}`>, DiagnosticText>> = {
  's3.key': {
    meaning:
      'a key cannot be a file path: it has `..`, an empty name, a slash at either end, a percent-encoded dot or slash, a backslash, a control or hidden character, or is not UTF-8; it is left out, and never read as another key',
    advice: 'Give the object a plain key, or remove it.',
  },
  's3.twin': {
    meaning: 'two keys differ only in the composition of accents; one of them is left out',
    advice: 'Remove or rename one of the objects.',
  },
  's3.shadowed': {
    meaning: 'a key names both a file and a folder, such as `blue` beside `blue/image.jpg`; the file is left out',
    advice: 'Rename one of them.',
  },
  's3.too-many': {
    meaning: 'the prefix holds more keys than the limit; the rest is left out',
    advice: 'Give each user or team a prefix of their own.',
  },
  's3.publication': {
    meaning: '`.skillcell.json` beside a skill was not written by skillcell; the skill is read without it',
    advice: 'Remove the object, or put the skill again.',
  },
};

const BRING_BACK =
  '`skillcell skills install` restores the locked version; `update` and `add` take the version of the source.';

/** Texts of diagnostics about locked skills. */
const LOCK_TEXTS: Readonly<Record<Extract<LibraryCode, `lock.${string}`>, DiagnosticText>> = {
  'lock.changed': {
    meaning: 'the bytes or the mode of a file differ from the lock file',
    advice: BRING_BACK,
  },
  'lock.missing': { meaning: 'a file of a locked skill does not exist', advice: BRING_BACK },
  'lock.added': {
    meaning:
      'the folder of a locked skill holds an entry that is not locked: a file, a link, or a folder that loaders skip',
    advice: 'Move it away, or add it to the skill at its source.',
  },
  'lock.not-approved': {
    meaning: 'with --frozen, a skill is left out if its bytes are not locked or it has no approval',
    advice: 'Look at the skill, then `skillcell skills approve REF --as WHO`.',
  },
  'lock.imported': {
    meaning: 'a remaining skill imports a removed one',
    advice: 'Remove the importing skill too, remove the import, or add the removed skill again.',
  },
  'lock.beside': {
    meaning: 'a skills-lock.json lies beside the written lock file; it is left as it is',
    advice:
      '`skillcell skills verify` compares the skills of both; add the skills of skills-lock.json to have one file.',
  },
};

/** Texts of diagnostics about the skill lists of web sites and MCP servers. */
const INDEX_TEXTS: Readonly<Record<'index.entry' | 'index.duplicate' | 'index.no-digest', DiagnosticText>> = {
  'index.entry': {
    meaning: 'an entry of the skill list breaks its format or has no digest; it is left out',
    advice: 'Tell the publisher of the skills; docs/web-sources.md lists the fields of an entry.',
  },
  'index.duplicate': {
    meaning: 'two entries of the skill list have the same name; the first one stays',
    advice: 'Tell the publisher of the skills.',
  },
  'index.no-digest': {
    meaning: 'the skill list has an older version, whose entries have no digests',
    advice:
      'The skill is locked by the digest of its bytes; the list cannot confirm that these are the published bytes.',
  },
};

const AGAIN = 'Pack the skill again, for instance with `skillcell skills pack`.';
const RENAME = 'Rename the file, and pack the skill again.';

/** Texts of diagnostics about archives, sources, stores, lock files and trust. */
export const LIBRARY_TEXTS: Readonly<Record<LibraryCode, DiagnosticText>> = {
  'zip.format': { meaning: 'the file is not a complete archive of its format', advice: AGAIN },
  'zip.entries': {
    meaning: 'the archive has more than 500 entries',
    advice: 'Pack one skill per archive, without files that it does not need.',
  },
  'zip.name': {
    meaning:
      'the path of an entry is not portable: absolute, with `..`, a backslash, a control or hidden character, too long, or a reserved Windows name',
    advice: RENAME,
  },
  'zip.link': {
    meaning: 'an entry is a link, a device, a fifo or a socket',
    advice: 'Replace it with the file itself, and pack the skill again.',
  },
  'zip.duplicate': { meaning: 'two entries have the same name', advice: AGAIN },
  'zip.collision': {
    meaning: 'two names are the same on systems that fold case, compose accents or replace full-width letters',
    advice: RENAME,
  },
  'zip.file-folder': { meaning: 'a name belongs to both a file and a folder', advice: RENAME },
  'zip.size': {
    meaning: 'the archive unpacks to more than 50 MiB, or the size of an entry differs from its declaration',
    advice: 'Leave large files out of the skill.',
  },
  'zip.overlap': { meaning: 'two entries use the same bytes of the archive', advice: AGAIN },
  'zip.encrypted': {
    meaning: 'the archive, or an entry of it, is encrypted',
    advice: 'Pack the skill without a password.',
  },
  'zip.method': {
    meaning: 'an entry is neither stored nor packed with deflate',
    advice: 'Pack the skill with deflate, the default of all tools.',
  },
  'zip.disks': { meaning: 'the archive is one part of several', advice: 'Pack the skill into one file.' },
  'zip.zip64': {
    meaning: 'the archive has sizes or offsets that are missing or too large for a number',
    advice: AGAIN,
  },
  'zip.header': {
    meaning: 'the local header of an entry contradicts the central directory',
    advice: AGAIN,
  },
  'zip.ambiguous': {
    meaning: 'the archive can be read in two ways: bytes lie before, after or between its parts',
    advice: AGAIN,
  },
  'zip.data': { meaning: 'the data of an entry cannot be inflated', advice: AGAIN },
  'zip.checksum': { meaning: 'the data of an entry does not match its declared checksum', advice: AGAIN },
  'tar.format': { meaning: 'the file is not a complete archive of its format', advice: AGAIN },
  'tar.entries': {
    meaning: 'the archive has more than 500 entries',
    advice: 'Pack one skill per archive, without files that it does not need.',
  },
  'tar.name': {
    meaning:
      'the path of an entry is not portable: absolute, with `..`, a backslash, a control or hidden character, too long, or a reserved Windows name',
    advice: RENAME,
  },
  'tar.link': {
    meaning: 'an entry is neither a file nor a folder, but a link, a device, a fifo or another kind',
    advice: 'Replace it with the file itself, and pack the skill again.',
  },
  'tar.duplicate': { meaning: 'two entries have the same name', advice: AGAIN },
  'tar.collision': {
    meaning: 'two names are the same on systems that fold case, compose accents or replace full-width letters',
    advice: RENAME,
  },
  'tar.file-folder': { meaning: 'a name belongs to both a file and a folder', advice: RENAME },
  'tar.size': {
    meaning: 'the archive unpacks to more than 50 MiB, or the size of an entry differs from its declaration',
    advice: 'Leave large files out of the skill.',
  },
  'tar.header': {
    meaning: 'programs read the header of an entry differently',
    advice: AGAIN,
  },
  'tar.ambiguous': {
    meaning: 'the archive can be read in two ways: it has no end, bytes follow its end, or a name is given twice',
    advice: AGAIN,
  },
  'tar.checksum': { meaning: 'the data of the archive does not match its declared checksum', advice: AGAIN },
  'archive.size': {
    meaning: 'the archive has more than 10 MiB',
    advice: 'Leave large files out of the skill.',
  },
  'archive.skill': {
    meaning: 'the archive holds no SKILL.md at its root or in one folder, or more than one skill',
    advice: 'Pack the folder of one skill, for instance with `skillcell skills pack`.',
  },
  'archive.left-out': {
    meaning: 'the archive holds files that systems and tools leave behind, such as __MACOSX or .git; they are left out',
    advice: 'Nothing to do; `skillcell skills pack` leaves them out as well.',
  },
  ...LOCK_TEXTS,
  'archive.beside': {
    meaning: 'the archive holds files beside the folder of the skill; they do not belong to it and are left out',
    advice: 'Nothing to do; pack only the folder of the skill.',
  },
  ...SOURCE_TEXTS,
  ...INDEX_TEXTS,
  'store.stale': {
    meaning: 'a store is unavailable; the skills come from its last good list',
    advice: 'Nothing to do if older skills are acceptable; else set `stale: "refuse"`.',
  },
  'store.missing': {
    meaning: 'a store is unavailable, and the cache lacks the content of one of its skills; that skill is not loaded',
    advice: 'Try again when the store answers.',
  },
  'trust.changed': {
    meaning: 'the skills of a project have changed since they were trusted; none of them is loaded',
    advice: 'Review the changes, then `skillcell skills trust`; with --follow, changes are trusted as well.',
  },
  'search.not-kept': {
    meaning: 'the index of a search cannot be written to the cache; the search still answers',
    advice: 'Set XDG_CACHE_HOME to a writable folder; else each process builds the index again.',
  },
  ...S3_TEXTS,
  'trust.outside': {
    meaning: 'a skill folder of the project is a link to a folder outside the project; it is not read',
    advice: 'Move the skills into the project, or name their folder with --root.',
  },
  'trust.ignored': {
    meaning: 'the file of trusted projects is not reliable, so no project is trusted',
    advice: 'Check the file that the message names; remove it, and trust the projects again.',
  },
};
