import { readdirSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { quotedText } from '../../../contracts/text/quoted-text.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { oneLine } from '../../../skills/text/text.ts';
import type { GitAddress } from './git-address.ts';
import { gitEnvironment } from './git-environment.ts';
import { COMMAND_MS, type GitLimits, OUTPUT_BYTES } from './git-limits.ts';
import { findGit } from './git-program.ts';
import { type GitRef, isCommit } from './git-ref.ts';
import { gitAuthorization, type GitToken } from './git-token.ts';
import { type GitCommand, GitFailure, runGit } from './run-git.ts';

/** Resolves a host to addresses that are allowed as targets. @throws SkillcellError `source.refused`, `store.unavailable` */
export type ResolveHost = (
  host: string,
  options: { allowPrivate?: readonly string[] | undefined; signal?: AbortSignal | undefined },
) => Promise<string[]>;

/** A remote repository, and the rules for reaching it. */
export interface GitRemote {
  address: GitAddress;
  limits: GitLimits;
  allowPrivate: readonly string[];
  caFile: string | undefined;
  token: GitToken | undefined;
  resolve: ResolveHost;
}

/** The target of a ref. */
export interface RemoteRef {
  /** Full id of the commit. */
  commit: string;
  /** The name to fetch: the full name of the ref, or the commit. */
  fetched: string;
}

/** Access of one command to the repository: environment, address, and the secrets that no message may hold. */
interface Reached {
  program: string;
  env: Record<string, string>;
  url: string;
  secrets?: readonly string[];
}

/** Asks the repository for the commit of a ref. @throws SkillcellError `store.unavailable`, `source.refused` */
export async function askRemote(remote: GitRemote, ref: GitRef, signal: AbortSignal | undefined): Promise<RemoteRef> {
  if ('commit' in ref) return { commit: ref.commit, fetched: ref.commit };
  const reached = await reach(remote, signal);
  const { program, env, url } = reached;
  const patterns = ref.names.flatMap((name) => [name, `${name}^{}`]);
  const printed = await toRemote(remote, reached, {
    program,
    env,
    args: ['ls-remote', '--quiet', '--end-of-options', url, ...patterns],
    timeoutMs: Math.min(COMMAND_MS, remote.limits.fetchMs),
    outputBytes: OUTPUT_BYTES,
    fileBytes: 0,
    signal,
  });
  const ids = new Map(
    printed
      .toString('utf8')
      .split('\n')
      .map((line) => line.split('\t'))
      .map(([id = '', name = '']) => [name, id]),
  );
  const fetched = ref.names.find((name) => ids.has(name));
  // An annotated tag is an object of its own; `^{}` gives its commit.
  const commit = fetched === undefined ? undefined : (ids.get(`${fetched}^{}`) ?? ids.get(fetched));
  if (fetched !== undefined && commit !== undefined && isCommit(commit)) return { commit, fetched };
  const name = ref.names[0]?.replace('refs/heads/', '') ?? '';
  if (name === 'HEAD')
    throw new SkillcellError(
      'source.refused',
      `Cannot read the repository ${remote.address.url}: it is empty, or has no default branch.`,
    );
  throw new SkillcellError(
    'source.refused',
    `Cannot read the repository ${remote.address.url}: it has no branch or tag ${quotedText(name)}.`,
  );
}

/** Fetches one commit, without its history, into an empty repository. @throws SkillcellError `store.unavailable`, `source.refused` */
export async function fetchRemote(
  remote: GitRemote,
  { fetched }: RemoteRef,
  repository: string,
  target: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const reached = await reach(remote, signal);
  const { program, env, url } = reached;
  await toRemote(
    remote,
    reached,
    {
      program,
      env,
      args: [
        `--git-dir=${repository}`,
        'fetch',
        '--quiet',
        '--depth=1',
        '--no-tags',
        '--no-write-fetch-head',
        '--no-auto-maintenance',
        '--no-recurse-submodules',
        '--end-of-options',
        url,
        `+${fetched}:${target}`,
      ],
      timeoutMs: remote.limits.fetchMs,
      outputBytes: OUTPUT_BYTES,
      fileBytes: remote.limits.bytes,
      signal,
    },
    () => isFilled(repository, remote.limits.bytes),
  );
}

/** Whether a file has reached the size limit. The system then ends git, which reports nothing itself. */
function isFilled(repository: string, bytes: number): boolean {
  const packs = join(repository, 'objects', 'pack');
  return readdirSync(packs).some((name) => statSync(join(packs, name)).size >= bytes);
}

/** Resolves the host anew each time, and pins git to the checked addresses. */
async function reach(remote: GitRemote, signal: AbortSignal | undefined): Promise<Reached> {
  const { address, allowPrivate, caFile, token, resolve } = remote;
  const program = await findGit();
  const { protocol, url, host } = address;
  if (host === undefined) return { program, env: gitEnvironment({ protocol }), url };
  const addresses = await resolve(host.name, { allowPrivate, signal });
  const [first = ''] = addresses;
  // git's own protocol cannot be pinned: the address replaces the name.
  if (protocol === 'git') {
    const pinned = new URL(url);
    pinned.hostname = bracketed(first);
    return { program, env: gitEnvironment({ protocol }), url: pinned.href };
  }
  const pinned = `${host.name}:${host.port}:${addresses.map(bracketed).join(',')}`;
  // A literal address needs no resolution.
  const isName = isIP(host.name.replace(/^\[(.*)\]$/, '$1')) === 0;
  const authorization = await gitAuthorization(address, token, signal);
  const env = gitEnvironment({ protocol, caFile, authorization, ...(isName ? { pinned } : {}) });
  return { program, env, url, secrets: authorization?.secrets ?? [] };
}

function bracketed(address: string): string {
  return isIP(address) === 6 ? `[${address}]` : address;
}

async function toRemote(
  remote: GitRemote,
  { secrets = [] }: Reached,
  command: GitCommand,
  isFull: () => boolean = () => false,
): Promise<Buffer> {
  try {
    return await runGit(command);
  } catch (error) {
    if (error instanceof GitFailure) throw asError(error.reason, hide(error.words, secrets), remote, isFull());
    throw error;
  }
}

const SHOWN_CHARACTERS = 300;

/** A server may echo a secret in its answer. */
function hide(words: string, secrets: readonly string[]): string {
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, '…'), words);
}

/** Messages of git may contain text from the server: one line of them is shown. */
function asError(
  reason: GitFailure['reason'],
  words: string,
  { address: { url }, limits, token }: GitRemote,
  isFull: boolean,
): SkillcellError {
  const start = `Cannot read the repository ${url}:`;
  if (reason === 'time') return new SkillcellError('store.unavailable', `${start} it takes too long.`);
  if (reason === 'output')
    return new SkillcellError('source.refused', `${start} it lists more than ${OUTPUT_BYTES} bytes of names.`);
  if (isFull) return new SkillcellError('source.refused', `${start} it is over the limit of ${limits.bytes} bytes.`);
  if (/returned error: 30[12378]\b|unable to update url base from redirection/.test(words)) {
    const hint = 'Use the address that it redirects to.';
    return new SkillcellError('source.refused', `${start} it redirects to another address, which is not followed.`, {
      hint,
    });
  }
  if (/not our ref|unadvertised object|mismatched algorithms/.test(words))
    return new SkillcellError('source.refused', `${start} it has no such commit, or does not give it by its id.`, {
      hint: 'A commit that is at no branch or tag any more is gone for most servers.',
    });
  if (/could not read Username|terminal prompts disabled|Authentication failed|returned error: 40[13]\b/.test(words)) {
    const flag = `\`--credential ${url.startsWith('https:') ? new URL(url).origin : 'ORIGIN'}=VARIABLE\``;
    if (token !== undefined)
      return new SkillcellError('store.unavailable', `${start} it rejects the token.`, {
        hint: `The token of ${flag} may have expired, or may not read this repository.`,
      });
    return new SkillcellError('store.unavailable', `${start} it asks for a credential.`, {
      hint: `It may be private, or missing: ${flag} names the environment variable that holds a token for it.`,
    });
  }
  const [line = 'git ended without a message'] = words
    .split('\n')
    .map((each) => oneLine(each).replace(/^(?:fatal|error): /, ''))
    .filter((each) => each !== '' && !each.startsWith('remote:') && !each.startsWith('warning:'));
  return new SkillcellError('store.unavailable', `${start} ${line.slice(0, SHOWN_CHARACTERS)}.`);
}
