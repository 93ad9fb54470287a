import type { Diagnostic } from '../../../contracts/errors/diagnostic.ts';
import { libraryDiagnostic } from '../../../contracts/errors/library-diagnostic.ts';
import { quotedText } from '../../../contracts/text/quoted-text.ts';
import { keyFault } from './key-fault.ts';
import { unavailable } from './s3-failure.ts';
import type { ListedObject, S3Access } from './s3-access.ts';

/** The most keys and pages of one prefix. */
export const PREFIX_LIMITS = { keys: 250_000, pages: 1_000 } as const;
const NAMED = 10;

/** What lies below a prefix. */
export interface ListedPrefix {
  /** Objects by their paths below the prefix. */
  objects: Map<string, ListedObject>;
  /** The last path of each page but the last: what stands on both sides of it may be of two moments. */
  pageEnds: string[];
  /** When the service gave the first page, by its own clock. */
  at: number;
  /** Whether there is more than may be. */
  isCut: boolean;
  diagnostics: Diagnostic[];
}

/** Lists a prefix that ends with a separator, page by page. What names no file is left out with a finding, under whatever name it goes. */
export async function listPrefix(
  access: S3Access,
  prefix: string,
  {
    signal,
    limits = PREFIX_LIMITS,
  }: { signal?: AbortSignal | undefined; limits?: { keys: number; pages: number } } = {},
): Promise<ListedPrefix> {
  const objects = new Map<string, ListedObject>();
  const refused = new Map<string, string>();
  const tokens = new Set<string>();
  const pageEnds: string[] = [];
  let refusedCount = 0;
  let at = 0;
  let keys = 0;
  let isCut = false;
  const refuse = (key: string, fault: string): void => {
    refusedCount += 1;
    if (refused.size < NAMED) refused.set(key, fault);
  };
  let token: string | undefined;
  for (let pages = 1; ; pages += 1) {
    const page = await access.list({ prefix, token }, signal);
    for (const key of page.unreadable) refuse(key, 'a name that is no UTF-8');
    for (const object of page.objects) {
      const { key, bytes } = object;
      const fault = key.startsWith(prefix) ? keyFault(key.slice(prefix.length)) : 'another prefix than was asked for';
      const path = key.slice(prefix.length);
      if (fault === undefined && objects.has(path)) throw repeats(access);
      if (fault === undefined) objects.set(path, object);
      else if (!key.startsWith(prefix) || !isMarker(path, bytes)) refuse(key, fault);
    }
    if (pages === 1) at = page.at;
    keys += page.objects.length;
    token = page.next;
    if (token === undefined) break;
    if (tokens.has(token)) throw repeats(access);
    tokens.add(token);
    const last = page.objects.at(-1)?.key.slice(prefix.length);
    if (last !== undefined) pageEnds.push(last);
    isCut = keys >= limits.keys || pages >= limits.pages;
    if (isCut) break;
  }
  const diagnostics = [
    ...refusedDiagnostics(refused, refusedCount),
    ...leaveOutTwins(objects),
    ...leaveOutShadowed(objects),
  ];
  if (isCut) {
    const message = `Only the first ${keys} keys below ${quotedText(prefix)} are read: there are more than ${limits.keys}.`;
    diagnostics.push(libraryDiagnostic('s3.too-many', message));
  }
  return { objects, pageEnds, at, isCut, diagnostics };
}

/** The empty object that consoles put where people make a folder. */
function isMarker(path: string, bytes: number): boolean {
  return bytes === 0 && (path === '' || (path.endsWith('/') && keyFault(path.slice(0, -1)) === undefined));
}

function repeats(access: S3Access): Error {
  return unavailable('list skills', access.address, 'the same page again and again');
}

function refusedDiagnostics(refused: ReadonlyMap<string, string>, count: number): Diagnostic[] {
  const found = [...refused].map(([key, fault]) =>
    libraryDiagnostic('s3.key', `A key is left out, since it names no file: ${fault}, got ${quotedText(key)}.`),
  );
  const more = count - refused.size;
  return more === 0
    ? found
    : [...found, libraryDiagnostic('s3.key', `${more} more keys are left out, since they name no file.`)];
}

/** Two keys whose names differ in nothing that a reader or a file system sees: the composed one stays, else the first. */
function leaveOutTwins(objects: Map<string, ListedObject>): Diagnostic[] {
  const found: Diagnostic[] = [];
  const seen = new Set<string>();
  for (const path of [...objects.keys()]) {
    const composed = path.normalize('NFC');
    if (composed === path) continue;
    if (objects.has(composed) || seen.has(composed)) {
      objects.delete(path);
      found.push(twin(path));
    }
    seen.add(composed);
  }
  return found;
}

function twin(path: string): Diagnostic {
  const message = `A key is left out: another one has the same name, with accents composed otherwise, got ${quotedText(path)}.`;
  return libraryDiagnostic('s3.twin', message);
}

/** `blue` beside `blue/image.jpg`: no folder holds both. The folder stays, as Mountpoint for Amazon S3 has it. */
function leaveOutShadowed(objects: Map<string, ListedObject>): Diagnostic[] {
  const folders = new Set<string>();
  for (const path of objects.keys())
    for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
      const folder = path.slice(0, slash);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  const found: Diagnostic[] = [];
  for (const folder of folders) {
    if (!objects.delete(folder)) continue;
    const message = `A file is left out, since its name is also that of a folder, got ${quotedText(folder)}.`;
    found.push(libraryDiagnostic('s3.shadowed', message, { path: folder }));
  }
  return found;
}
