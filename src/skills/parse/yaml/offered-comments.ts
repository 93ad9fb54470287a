import type { Diagnostic } from '../../../contracts/errors/diagnostic.ts';
import type { commentDiagnostics, CommentOptions } from './plain-comments.ts';

let offered: typeof commentDiagnostics | undefined;

/**
 * Takes the finder of comments behind values. The host's loaders offer it. A sandbox gets skills that the host has read,
 * so its bundle leaves the finder out.
 *
 * @param find the finder
 */
export function offerComments(find: typeof commentDiagnostics): void {
  offered = find;
}

/** Diagnostics of the offered finder; empty without one. */
export function commentsOf(root: unknown, document: string, options: CommentOptions): Diagnostic[] {
  return offered?.(root, document, options) ?? [];
}
