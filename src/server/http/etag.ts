import type { FastifyRequest } from 'fastify';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { RequestRefused } from './problem.ts';

const FORM = /^(?:W\/)?"(\d{1,9})"$/;

/** The ETag of a revision. */
export function etagOf(revision: number): string {
  return `"${revision}"`;
}

/**
 * The revision that a change is based on, by `If-Match`. `*` is no revision.
 *
 * @throws {RequestRefused} `request.unconditional`, and `resource.changed` for the ETag of another resource
 */
export function revisionIn({ headers }: FastifyRequest): number {
  const given = headers['if-match'];
  if (given === undefined || given.trim() === '*') {
    throw new RequestRefused(
      'request.unconditional',
      'Cannot change the resource: the request has no If-Match with an ETag.',
    );
  }
  const [, revision] = FORM.exec(given.trim()) ?? [];
  if (revision === undefined)
    throw new SkillcellError('resource.changed', 'Cannot change the resource: If-Match is no ETag of it.');
  return Number(revision);
}

/** Whether the client has this revision already, by `If-None-Match`. */
export function hasRevision({ headers }: FastifyRequest, revision: number): boolean {
  const given = headers['if-none-match'] ?? '';
  return given.split(',').some((each) => each.trim().replace(/^W\//, '') === etagOf(revision) || each.trim() === '*');
}
