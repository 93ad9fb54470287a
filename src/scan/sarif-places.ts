import { statSync } from 'node:fs';
import { dirname, relative, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Location of a file in SARIF: an address relative to a folder that the log names. */
export interface SarifPlace {
  uri: string;
  uriBaseId: string;
}

/** Converts the paths of one scan into addresses. */
export interface SarifPlaces {
  /** `originalUriBaseIds` of the log. */
  bases: Readonly<Record<string, { uri: string }>>;
  /** The place of a path as it is shown to the caller. */
  placeOf(path: string): SarifPlace;
}

/**
 * Chooses base folders for relative addresses, because code hosts show nothing for an absolute address. The base is the
 * working folder; outside of it, the named folder or the folder of the named file.
 *
 * @param cwd absolute path of the working folder
 * @param operands paths that are scanned, as the caller gave them
 */
export function sarifPlaces(cwd: string, operands: readonly string[]): SarifPlaces {
  const folders = new Map([['%SRCROOT%', cwd]]);
  for (const operand of operands) {
    const path = resolve(cwd, operand);
    if ([...folders.values()].some((folder) => isBelow(path, folder))) continue;
    const folder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true ? path : dirname(path);
    folders.set(`ROOT${folders.size}`, folder);
  }
  const bases = [...folders].map(([id, folder]) => [id, { uri: folderAddress(folder) }] as const);
  return {
    bases: Object.fromEntries(bases),
    placeOf(path) {
      const absolute = resolve(cwd, path);
      const [uriBaseId, folder] = [...folders].find(([, each]) => isBelow(absolute, each)) ?? ['%SRCROOT%', cwd];
      return { uri: addressOf(relative(folder, absolute)), uriBaseId };
    },
  };
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

function folderAddress(folder: string): string {
  const { href } = pathToFileURL(folder);
  return href.endsWith('/') ? href : `${href}/`;
}

const LONE_SURROGATES = /\p{Cs}/gu;

/** A relative path as an address. A lone surrogate has no UTF-8 form, so it is replaced. */
function addressOf(path: string): string {
  return path.replace(LONE_SURROGATES, '\ufffd').split(sep).map(encodeURIComponent).join('/') || '.';
}
