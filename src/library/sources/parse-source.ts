import { archiveForm } from '../../contracts/skills/archive-ending.ts';
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { quotedText } from '../../contracts/text/quoted-text.ts';
import { relativePathFault } from '../../contracts/text/relative-path.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { SourceSpec } from './source-spec.ts';

const REPOSITORY = /^[A-Za-z0-9][A-Za-z0-9-]{0,38}\/[A-Za-z0-9._-]{1,100}$/;
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const REF_BYTES = 255;
// Characters that git forbids in the name of a ref, or that affect a terminal.
const NO_REF = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s~^:?*[\\]|\.\.|@\{|\/\/|\.lock$|^[-./]|[./]$/u;

/**
 * Reads `SOURCE[#ref][:folder]`: a path, an archive, `owner/repo` of GitHub, an `https` address of an archive or a git repository, `https://host`
 * alone, `s3://bucket/prefix` or `mcp:URL`. A path with a ref, or of a bare repository, counts as git.
 *
 * @param text as typed
 * @param cwd base of relative paths
 * @throws SkillcellError `source.refused`
 */
export function parseSource(text: string, cwd: string): SourceSpec {
  if (text === '' || /[\p{Cc}\p{Zl}\p{Zp}]/u.test(text)) throw refused('it is empty or holds control characters', text);
  if (text.startsWith('mcp:')) return { kind: 'mcp', source: address(text.slice('mcp:'.length), text).href };
  if (text.startsWith('npm:')) throw refused('packages of npm are not supported', text);
  const { source, ref, folder } = cut(text, cwd);
  const rest = { ...(ref === undefined ? {} : { ref }), ...(folder === undefined ? {} : { folder }) };
  if (source.startsWith('s3://')) {
    const [bucket = ''] = source.slice('s3://'.length).split('/', 1);
    if (!BUCKET.test(bucket) || source.includes('?'))
      throw refused('it must be s3://bucket/prefix', withoutSecrets(text));
    return { ...withoutRef(rest, text), kind: 's3', source: source.endsWith('/') ? source.slice(0, -1) : source };
  }
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(source) || source.startsWith('git@')) return addressed(source, rest, text);
  const isPath = /^(?:\.{1,2}(?:\/|$)|\/|~)/.test(source) || !REPOSITORY.test(source);
  if (isPath || archiveForm(source) !== undefined) return local(source, rest, text, cwd);
  if (existsSync(resolve(cwd, source)))
    throw refused(
      `it is ambiguous, a folder here or a repository of GitHub: write ./${source}, or https://github.com/${source}`,
      text,
    );
  return { ...rest, kind: 'git', source: `https://github.com/${source.replace(/\.git$/, '')}` };
}

/** `#ref` comes first, and a ref has no colon. Without a ref, the folder follows the colon after the path. */
function cut(text: string, cwd: string): { source: string; ref?: string; folder?: string } {
  if (existsSync(resolve(cwd, text))) return { source: text };
  const hashAt = text.indexOf('#');
  const [head, tail] = hashAt < 0 ? [text, undefined] : [text.slice(0, hashAt), text.slice(hashAt + 1)];
  const from = /^[a-z0-9+.-]+:\/\/[^/]*/i.exec(head)?.[0].length ?? 0;
  const colon = tail === undefined ? head.indexOf(':', from) : tail.indexOf(':');
  const whole = tail ?? head;
  const [first, folder] = colon < 0 ? [whole, undefined] : [whole.slice(0, colon), whole.slice(colon + 1)];
  const fault = folder === undefined ? undefined : relativePathFault(folder);
  if (fault !== undefined) throw refused(`the folder in it must be a plain path (${fault})`, text);
  const parts = { ...(folder === undefined ? {} : { folder }) };
  if (tail === undefined) return { source: first, ...parts };
  if (first === '' || Buffer.byteLength(first) > REF_BYTES || NO_REF.test(first))
    throw refused('the part after # must be the name of a branch or a tag, or the id of a commit', text);
  return { source: head, ref: first, ...parts };
}

function addressed(source: string, rest: Pick<SourceSpec, 'ref' | 'folder'>, text: string): SourceSpec {
  const url = address(source, text);
  if (archiveForm(url.pathname) !== undefined) return { ...withoutRef(rest, text), kind: 'archive', source: url.href };
  if (url.pathname !== '/') return { ...rest, kind: 'git', source: withoutSlashes(url.href) };
  if (rest.folder !== undefined) throw refused('a host has no folders: choose by --skill', text);
  return { ...withoutRef(rest, text), kind: 'web', source: url.origin };
}

function withoutSlashes(address: string): string {
  let end = address.length;
  while (address[end - 1] === '/') end -= 1;
  return address.slice(0, end);
}

const ONLY_HTTPS = 'only https addresses are read';

function address(source: string, text: string): URL {
  const url = URL.parse(source);
  // A malformed address, or one with user and password, is never shown again.
  if (url === null) throw refused(/^https:/i.test(source) ? 'its host is invalid' : ONLY_HTTPS, withoutSecrets(text));
  if (url.username !== '' || url.password !== '') throw refused('it holds a credential', withoutSecrets(text));
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && LOOPBACK.has(url.hostname)))
    throw refused(ONLY_HTTPS, withoutSecrets(text));
  if (url.search !== '' || url.hash !== '')
    throw refused('an address with a query may hold a credential', withoutSecrets(text));
  return url;
}

/** Loopback needs no encryption. The store itself decides whether the address is allowed. */
const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]']);

function withoutSecrets(text: string): string {
  return text.replace(/\/\/[^/]*@/, '//…@').replace(/\?.*/s, '?…');
}

function local(source: string, rest: Pick<SourceSpec, 'ref' | 'folder'>, text: string, cwd: string): SourceSpec {
  if (source.startsWith('~'))
    throw refused('the shell replaces ~ only at the beginning of a word; write the path', text);
  const path = resolve(cwd, source);
  if (rest.ref !== undefined || isBareRepository(path)) return { ...rest, kind: 'git', source: path };
  if (archiveForm(path) !== undefined) return { ...rest, kind: 'archive', source: path };
  return { ...rest, kind: 'directory', source: path };
}

function isBareRepository(path: string): boolean {
  return ['HEAD', 'objects', 'refs'].every(
    (name) => statSync(join(path, name), { throwIfNoEntry: false }) !== undefined,
  );
}

function withoutRef({ ref, ...rest }: Pick<SourceSpec, 'ref' | 'folder'>, text: string): Pick<SourceSpec, 'folder'> {
  if (ref !== undefined) throw refused('only a repository of git has branches and tags', text);
  return rest;
}

/** The error of a refused source. */
export function refused(reason: string, text: string): SkillcellError {
  return new SkillcellError('source.refused', `Cannot use the source: ${reason}, got ${quotedText(text)}.`);
}
