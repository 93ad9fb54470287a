import { quotedText } from '../contracts/text/quoted-text.ts';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import { keyFault } from '../library/stores/s3/key-fault.ts';

/** Names under which an agent sees a bucket. */
export const MOUNTS = ['/skills', '/ticket', '/workspace'] as const;
/** The name of one mount. */
export type MountName = (typeof MOUNTS)[number];

/** A parsed path of an agent. */
export interface MountPath {
  mount: MountName;
  /** Below the mount, without a slash at its end; empty for the mount itself. */
  path: string;
}

/**
 * Parses a path. The name of a mount must match whole: `/skillset` is no mount. Nothing is normalised, but for one slash at the end of a folder.
 *
 * @param as whether the path is to name a file or a folder
 * @returns undefined for the folder `/`
 * @throws SkillcellError `store.key-invalid`
 */
export function mountPath(given: string, as: 'file' | 'folder'): MountPath | undefined {
  if (as === 'folder' && given === '/') return undefined;
  const trimmed = as === 'folder' && given.endsWith('/') ? given.slice(0, -1) : given;
  const mount = MOUNTS.find((name) => trimmed === name || trimmed.startsWith(`${name}/`));
  if (mount === undefined) throw refused(`a path begins with ${MOUNTS.join(', ')}`, given);
  const path = trimmed.slice(mount.length + 1);
  if (path === '' && trimmed === mount && as === 'folder') return { mount, path };
  const fault = keyFault(path);
  if (fault !== undefined) throw refused(fault, given);
  return { mount, path };
}

function refused(fault: string, got: string): SkillcellError {
  return new SkillcellError('store.key-invalid', `Cannot name a file: ${fault}, got ${quotedText(got)}.`);
}
