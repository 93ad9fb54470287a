import type { Diagnostic } from '../../../contracts/errors/diagnostic.ts';
import type { commentDiagnostics, CommentOptions } from './plain-comments.ts';

let offered: typeof commentDiagnostics | undefined;

/**
 * Takes how comments behind values are found. The host's loaders offer it; a sandbox gets skills that the host has read, so its
 * bundle doesn't hold it.
 *
 * @param find finds them
 */
export function offerComments(find: typeof commentDiagnostics): void {
  offered = find;
}

/** What the finder that was offered finds; nothing without one. */
export function commentsOf(root: unknown, document: string, options: CommentOptions): Diagnostic[] {
  return offered?.(root, document, options) ?? [];
}
