import type { Diagnostic } from '../../../contracts/errors/diagnostic.ts';
import { libraryDiagnostic } from '../../../contracts/errors/library-diagnostic.ts';
import { quotedText } from '../../../contracts/text/quoted-text.ts';
import { keyFault } from './key-fault.ts';
import { unavailable } from './s3-failure.ts';
import type { ListedObject, S3Access } from './s3-access.ts';

/** Limits of one prefix. */
export const PREFIX_LIMITS = { keys: 250_000, pages: 1_000 } as const;
const NAMED = 10;

/** Objects below a prefix. */
export interface ListedPrefix {
  /** Objects by their paths below the prefix. */
  objects: Map<string, ListedObject>;
  /** The last path of each page but the last. The pages on both sides of it may be of different moments. */
  pageEnds: string[];
  /** Time of the first page, by the clock of the service, in ms since 1970; 0 where it gives none. */
  at: number;
  /** Whether the list reached a limit. */
  isCut: boolean;
  diagnostics: Diagnostic[];
}

/** Lists a prefix that ends with a separator, page by page. Keys that name no file are left out, with a diagnostic. */
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

/** The empty object that consoles create for a new folder. */
function isMarker(path: string, bytes: number): boolean {
  return bytes === 0 && (path === '' || (path.endsWith('/') && keyFault(path.slice(0, -1)) === undefined));
}

function repeats(access: S3Access): Error {
  return unavailable('list skills', access.address, 'the service sends the same page again and again');
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

/** Leaves out keys that differ from another one only in Unicode form: the composed one stays, else the first. */
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
  const message = `A key is left out: another one has the same name in another Unicode form, got ${quotedText(path)}.`;
  return libraryDiagnostic('s3.twin', message);
}

/** Leaves out `blue` beside `blue/image.jpg`: no folder can hold both. The folder stays, as in Mountpoint for Amazon S3. */
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
