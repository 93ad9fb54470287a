import { quotedText } from '../../../contracts/text/quoted-text.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';

const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** Whether a text is the full id of an object. */
export function isCommit(text: string): boolean {
  return COMMIT.test(text);
}

// Operators, patterns and options of git, and control characters.
const UNUSABLE = /[\p{Cc}\p{Cs}\s~^:?*[\\]|\.\.|@\{|\/\/|^[-/]|[./]$/u;
const BYTES = 255;

/** The requested part of a repository's history: its default branch, a branch or tag by its possible names, or a commit. */
export type GitRef = { commit: string } | { names: readonly string[] };

/**
 * Reads a ref: the full id of a commit, or the name of a branch or tag. A branch counts before a tag of the same name, as in `git clone`.
 *
 * @throws SkillcellError `source.refused`
 */
export function readGitRef(ref: string | undefined): GitRef {
  if (ref === undefined || ref === 'HEAD') return { names: ['HEAD'] };
  if (isCommit(ref)) return { commit: ref };
  const parts = ref.split('/');
  const isName =
    ref !== '' &&
    ref !== '@' &&
    Buffer.byteLength(ref) <= BYTES &&
    !UNUSABLE.test(ref) &&
    parts.every((part) => !part.startsWith('.') && !part.endsWith('.lock'));
  if (!isName)
    throw new SkillcellError(
      'source.refused',
      `Cannot read the repository: the ref is not a branch, a tag or a full commit id, got ${quotedText(ref)}.`,
    );
  return { names: ref.startsWith('refs/') ? [ref] : [`refs/heads/${ref}`, `refs/tags/${ref}`] };
}
