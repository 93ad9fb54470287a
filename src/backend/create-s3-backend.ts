import type { Diagnostic } from '../contracts/errors/diagnostic.ts';
import { quotedText } from '../contracts/text/quoted-text.ts';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import { binaryKindOf } from '../skills/load/files/binary-kind.ts';
import { READ_LIMIT, READ_LINES } from '../skills/load/files/read-skill-file.ts';
import { policyFor } from '../skills/select/policy.ts';
import { decodeText } from '../skills/text/decode-text.ts';
import { compareCodePoints } from '../skills/text/text.ts';
import { defaultCacheFolder } from '../durable/user-folders.ts';
import { openTreeCache } from '../library/stores/cache/tree-cache.ts';
import { openS3Access } from '../library/stores/s3/s3-access.ts';
import { storeOf } from '../library/stores/s3/s3-store.ts';
import { createPdfReader, isPdf } from './pdf/read-pdf.ts';
import { editFile } from './edit-file.ts';
import { grepFiles } from './grep-files.ts';
import { type MountName, mountPath, MOUNTS } from './mount-path.ts';
import type { MountedFiles, ReadFile } from './mounted-files.ts';
import { prefixFiles } from './prefix-files.ts';
import type { BackendCall, LineRange, S3Backend } from './s3-backend.ts';
import { readPrefixes, type S3BackendOptions } from './s3-backend-options.ts';
import { shelfFiles } from './shelf-files.ts';
import { type ShelvedSkill, shelveSkills } from './skill-shelf.ts';
import { formattedSkills, frontMatterText, skillText } from './skill-texts.ts';
import { globMatch } from '../skills/text/glob-match.ts';

/**
 * Opens a bucket for the agent of one user: skills at `/skills`, files of its thread at `/workspace` and of its ticket at `/ticket`.
 * No request is sent before the first call.
 *
 * @example
 * ```ts
 * import { createS3Backend } from 'skillcell/backend';
 *
 * await using backend = createS3Backend({ bucket: 'skills', userId: 'u1', threadId: 't1', company: 'acme' });
 * console.log(await backend.ls('/'));
 * // prints: [ '/skills', '/workspace' ]
 * ```
 *
 * @throws SkillcellError `options.invalid`; `store.key-invalid` for an id that is no plain name
 */
export function createS3Backend(options: S3BackendOptions): S3Backend {
  const prefixes = readPrefixes(options);
  const {
    visible = 'all',
    writableTicket = false,
    consumer,
    agentsConfig = {},
    cacheDir = defaultCacheFolder(),
  } = options;
  const access = openS3Access(options);
  const cache = openTreeCache(cacheDir);
  const storeAt = (prefix: string, kind: 'user' | 'company'): ReturnType<typeof storeOf> =>
    storeOf({ access, prefix, kind, cache });
  const { user, company, workspace, ticket } = prefixes;
  const stores = [storeAt(user, 'user'), ...(company === undefined ? [] : [storeAt(company, 'company')])];
  const shelf = shelveSkills(stores, policyFor(agentsConfig, consumer));
  const loaded = new Set<string>();
  const shows = (skill: ShelvedSkill): boolean => loaded.has(skill.path) || (visible === 'all' && isOffered(skill));
  const mounts = new Map<MountName, MountedFiles>([['/skills', shelfFiles({ shelf, shows })]]);
  if (ticket !== undefined) mounts.set('/ticket', prefixFiles(access, ticket, writableTicket));
  if (workspace !== undefined) mounts.set('/workspace', prefixFiles(access, workspace, true));
  const pdf = createPdfReader({ cache, orchestrator: options.orchestrator, limits: options.pdfLimits });

  const filesOf = (mount: MountName): MountedFiles => {
    const files = mounts.get(mount);
    if (files !== undefined) return files;
    throw new SkillcellError('file.unreadable', `Cannot find the file: this backend has no mount ${mount}.`);
  };

  /** The file of a path, else the file of the path with `.md`. */
  const find = async (path: string, signal: AbortSignal | undefined): Promise<ReadFile & { path: string }> => {
    const { mount, path: below } = fileAt(path);
    const files = filesOf(mount);
    for (const ending of ['', '.md']) {
      const file = await files.read(`${below}${ending}`, signal);
      if (file !== undefined) return { ...file, path: `${mount}/${below}${ending}` };
    }
    throw new SkillcellError(
      'file.unreadable',
      `Cannot read the file: there is no such file, got ${quotedText(path)}.`,
    );
  };

  const readText: S3Backend['readText'] = async (path, { convert = false, ...range } = {}) => {
    const { content, path: found } = await find(path, range.signal);
    if (convert && (isPdf(content) || binaryKindOf(found) === 'application/pdf'))
      return linesOf(await pdf.read(content, found, range.signal), range);
    return linesOf(textOf(content, found), range);
  };

  /** Diagnostics of the last listing of each mount; those of skills are on the shelf. */
  const leftOut = new Map<MountName, readonly Diagnostic[]>();
  const filesBelow = async (path: string, signal: AbortSignal | undefined): Promise<string[]> => {
    const at = mountPath(path, 'folder');
    const names = at === undefined ? [...mounts.keys()] : [at.mount];
    const lists = await Promise.all(
      names.map(async (mount) => {
        const { files, diagnostics } = await filesOf(mount).list(at?.path ?? '', signal);
        leftOut.set(mount, diagnostics);
        return files.map((file) => `${mount}/${file.path}`);
      }),
    );
    return lists.flat().toSorted(compareCodePoints);
  };

  const globbed: S3Backend['glob'] = async (pattern, { path = '/', signal } = {}) => {
    const below = path.endsWith('/') ? path : `${path}/`;
    const all = await filesBelow(path, signal);
    return all.filter((file) => matchPath(pattern, pattern.startsWith('/') ? file : file.slice(below.length)));
  };

  const offered = async (category: string | undefined, { signal }: BackendCall): Promise<ShelvedSkill[]> => {
    const all = [...(await shelf.look(signal)).values()].filter(isOffered);
    return category === undefined || category === 'all' ? all : all.filter((skill) => skill.category === category);
  };
  const skillAt = async (path: string, signal: AbortSignal | undefined): Promise<ShelvedSkill | undefined> =>
    (await shelf.known(signal)).get(path) ?? (await shelf.look(signal)).get(path);

  const backend: S3Backend = {
    async ls(path, { signal } = {}) {
      const at = mountPath(path, 'folder');
      if (at === undefined) return MOUNTS.filter((mount) => mounts.has(mount));
      const folder = at.path === '' ? at.mount : `${at.mount}/${at.path}`;
      const names = new Set(
        (await filesBelow(path, signal)).map((file) => file.slice(folder.length + 1).split('/')[0]),
      );
      return [...names].map((name) => `${folder}/${name}`).toSorted(compareCodePoints);
    },
    read: (path, range) => readText(path, { ...range, convert: false }),
    readText,
    async readBytes(path, { signal } = {}) {
      const { mount, path: below } = fileAt(path);
      const file = await filesOf(mount).read(below, signal);
      if (file !== undefined) return file.content;
      throw new SkillcellError(
        'file.unreadable',
        `Cannot read the file: there is no such file, got ${quotedText(path)}.`,
      );
    },
    async exists(path, { signal } = {}) {
      const { mount, path: below } = fileAt(path);
      const files = mounts.get(mount);
      if (files === undefined) return false;
      return (await files.has(below, signal)) || (await files.has(`${below}.md`, signal));
    },
    async write(path, content, { create = false, signal } = {}) {
      const { mount, path: below } = fileAt(path);
      const write = writer(filesOf(mount), path);
      const bytes = typeof content === 'string' ? Buffer.from(content) : content;
      if (bytes.length > READ_LIMIT) {
        const message = `Cannot write ${quotedText(path)}: the limit is ${READ_LIMIT} bytes, got ${bytes.length}.`;
        throw new SkillcellError('file.unreadable', message);
      }
      if ((await write(below, bytes, create ? { etag: null } : 'any', signal)) !== undefined) return;
      throw new SkillcellError('store.conflict', `Cannot create the file: it exists already, got ${quotedText(path)}.`);
    },
    async edit(path, edit, { signal } = {}) {
      const { mount, path: below } = fileAt(path);
      const files = filesOf(mount);
      return editFile({ read: files.read, write: writer(files, path) }, { ...edit, path, below, signal });
    },
    glob: globbed,
    async grep(text, { path = '/', glob, regex = false, signal } = {}) {
      const paths =
        glob === undefined ? await filesBelow(path, signal) : await globbed(glob, { path, ...(signal && { signal }) });
      const read = async (file: string): Promise<Uint8Array | undefined> => {
        const { mount, path: below } = fileAt(file);
        return (await filesOf(mount).read(below, signal))?.content;
      };
      return grepFiles({ text, regex, paths, read });
    },
    loadSkills: async (category, call = {}) => (await offered(category, call)).map(({ path }) => path),
    loadSkillsFrontmatter: async (category, call = {}) =>
      (await offered(category, call)).map(frontMatterText).join('\n'),
    loadAllSkillsFormatted: async (category, call = {}) => formattedSkills(await offered(category, call)),
    async loadSkillContent(path, { signal } = {}) {
      const skill = await skillAt(path, signal);
      if (skill === undefined) return undefined;
      loaded.add(skill.path);
      return skillText(skill);
    },
    async offersSkill(path, { signal } = {}) {
      const skill = await skillAt(path, signal);
      return skill !== undefined && isOffered(skill);
    },
    get diagnostics() {
      return [...shelf.diagnostics, ...[...leftOut.values()].flat()];
    },
    async close() {
      await Promise.all([...stores.map((store) => store.close()), pdf.close()]);
      access.close();
      cache.close();
    },
    [Symbol.asyncDispose]: () => backend.close(),
  };
  return backend;
}

function isOffered({ parsed }: ShelvedSkill): boolean {
  return parsed.fields.disableModelInvocation !== true;
}

function fileAt(path: string): { mount: MountName; path: string } {
  const at = mountPath(path, 'file');
  if (at !== undefined) return at;
  throw new SkillcellError('store.key-invalid', `Cannot name a file: it is a folder, got ${quotedText(path)}.`);
}

function writer({ write }: MountedFiles, path: string): NonNullable<MountedFiles['write']> {
  if (write !== undefined) return write;
  throw new SkillcellError('store.read-only', `Cannot write the file: it is read-only here, got ${quotedText(path)}.`);
}

function textOf(content: Uint8Array, path: string): string {
  const decoded = decodeText(content, READ_LIMIT);
  if ('text' in decoded) return decoded.text;
  const kind = binaryKindOf(path);
  const message = `Cannot read ${quotedText(path)} as text: it is a binary file (${kind}), got ${content.length} bytes.`;
  const convert = kind === 'application/pdf' ? ', extract its text by `readText` with `convert`' : '';
  throw new SkillcellError('file.unreadable', message, {
    hint: `Ask for its bytes${convert}, or refer to the file by its path.`,
  });
}

function linesOf(text: string, { offset = 0, limit }: LineRange): string {
  const isWhole = (value: number, least: number): boolean => Number.isSafeInteger(value) && value >= least;
  if (!isWhole(offset, 0) || (limit !== undefined && (!isWhole(limit, 1) || limit > READ_LINES))) {
    const message = `Cannot read lines: offset is a whole number from 0, limit one from 1 to ${READ_LINES}, got ${offset} and ${limit}.`;
    throw new SkillcellError('usage.invalid', message, { hint: 'Ask for the next lines by a larger offset.' });
  }
  if (offset === 0 && limit === undefined) return text;
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const part = lines.slice(offset, limit === undefined ? undefined : offset + limit);
  return part.map((line) => `${line}\n`).join('');
}

/**
 * Tells whether a pattern matches a whole path. `*` matches any characters of one name, `?` one character, and a name `**` any number of
 * names. The time grows with the number of names in the pattern times the number of names in the path.
 */
function matchPath(pattern: string, path: string): boolean {
  const parts = pattern.split('/');
  const names = path.split('/');
  // Positions in the pattern that the names so far can reach.
  let reached = new Set<number>(skipStars(parts, [0]));
  for (const name of names) {
    const points = [...name];
    const next: number[] = [];
    for (const at of reached) {
      const part = parts[at];
      if (part === undefined) continue;
      if (part === '**') next.push(at);
      else if (globMatch([...part], points)) next.push(at + 1);
    }
    reached = new Set(skipStars(parts, next));
  }
  return reached.has(parts.length);
}

/** A `**` may match no name at all. */
function skipStars(parts: readonly string[], places: readonly number[]): number[] {
  const all = [...places];
  for (const place of places) for (let at = place; parts[at] === '**'; at += 1) all.push(at + 1);
  return all;
}
