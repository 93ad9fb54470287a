/**
 * Codes of what is found where skills come from, apart from the others: a sandbox has no stores, and its entry no room for what it does not
 * need.
 */
export const LIBRARY_SEVERITIES = {
  'zip.format': 'error',
  'zip.entries': 'error',
  'zip.name': 'error',
  'zip.link': 'error',
  'zip.duplicate': 'error',
  'zip.collision': 'error',
  'zip.file-folder': 'error',
  'zip.size': 'error',
  'zip.overlap': 'error',
  'zip.encrypted': 'error',
  'zip.method': 'error',
  'zip.disks': 'error',
  'zip.zip64': 'error',
  'zip.header': 'error',
  'zip.ambiguous': 'error',
  'zip.data': 'error',
  'zip.checksum': 'error',
  'tar.format': 'error',
  'tar.entries': 'error',
  'tar.name': 'error',
  'tar.link': 'error',
  'tar.duplicate': 'error',
  'tar.collision': 'error',
  'tar.file-folder': 'error',
  'tar.size': 'error',
  'archive.left-out': 'warning',
  'store.stale': 'warning',
  'store.missing': 'error',
  'trust.changed': 'warning',
  'trust.outside': 'warning',
  'trust.ignored': 'warning',
} as const;

/** A code of what is found where skills come from. */
export type LibraryCode = keyof typeof LIBRARY_SEVERITIES;
