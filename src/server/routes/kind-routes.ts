import * as z from 'zod';
import { kindForm, type KindForm, type KindObject } from '../../registry/kinds/kind-object.ts';
import { type Actor, PUBLIC } from '../../registry/kinds/kind-rows.ts';
import {
  KIND_SCHEMAS,
  type KindInput,
  type KindSpecs,
  NAME_SCHEMA,
  NAMESPACE_SCHEMA,
} from '../../registry/kinds/kind-schemas.ts';
import { createKind, deleteKind, getKind, listKinds, updateKind } from '../../registry/kinds/kinds.ts';
import { teamSkills } from '../../registry/kinds/team-skills.ts';
import { forbidden, viewerIn } from '../http/authenticate.ts';
import { etagOf, revisionIn } from '../http/etag.ts';
import { idInPath, noContent, numberInQuery, problems } from '../schemas/common.ts';
import { kindFormSchema, kindListSchema } from '../schemas/kinds.ts';
import type { App, RouteParts } from './route-options.ts';
import { numberOf } from './user-routes.ts';

const PATHS: readonly (readonly [path: string, kind: keyof KindSpecs])[] = [
  ['ghosts', 'Ghost'],
  ['bots', 'Bot'],
  ['teams', 'Team'],
];
const listQuery = z.strictObject({
  skip: numberInQuery(0, 999_999_999).optional(),
  limit: numberInQuery(1, 100).optional(),
  name: NAME_SCHEMA.optional(),
  namespace: NAMESPACE_SCHEMA.optional(),
});
const tags = ['kinds'];

/** Ghosts, bots and teams. */
export function addKindRoutes(app: App, { database: { db }, now }: RouteParts): void {
  for (const [path, kind] of PATHS) {
    const body = KIND_SCHEMAS[kind] as z.ZodType<KindInput>;

    app.get(
      `/kinds/${path}`,
      { schema: { tags, querystring: listQuery, response: { 200: kindListSchema, ...problems } } },
      async (request) => {
        const { skip = 0, limit = 50, ...filter } = request.query;
        const { items, total } = await listKinds(db, kind, viewerIn(request), { skip, limit, ...filter });
        return { items: items.map(kindForm), total };
      },
    );

    app.post(
      `/kinds/${path}`,
      {
        schema: {
          tags,
          querystring: z.strictObject({ public: z.literal('1').optional() }),
          description: 'With `public=1`, an admin creates an object for all users.',
          body,
          response: { 201: kindFormSchema, ...problems },
        },
      },
      async (request, reply) => {
        const owner = ownerOf(viewerIn(request), request.query.public === '1');
        return sendKind(reply.code(201), await createKind(db, request.body, { owner, now: now() }));
      },
    );

    app.get(
      `/kinds/${path}/:id`,
      { schema: { tags, params: idInPath, response: { 200: kindFormSchema, ...problems } } },
      async (request, reply) =>
        sendKind(reply, await getKind(db, kind, numberOf(request.params.id), viewerIn(request))),
    );

    app.put(
      `/kinds/${path}/:id`,
      { schema: { tags, params: idInPath, body, response: { 200: kindFormSchema, ...problems } } },
      async (request, reply) => {
        const id = numberOf(request.params.id);
        const actor = viewerIn(request);
        // A missing object is told before a missing precondition.
        await getKind(db, kind, id, actor);
        const options = { actor, revision: revisionIn(request), now: now() };
        return sendKind(reply, await updateKind(db, id, request.body, options));
      },
    );

    app.delete(
      `/kinds/${path}/:id`,
      { schema: { tags, params: idInPath, response: { 204: noContent, ...problems } } },
      async (request, reply) => {
        await deleteKind(db, kind, numberOf(request.params.id), viewerIn(request));
        return reply.code(204).send(null);
      },
    );
  }

  app.get(
    '/kinds/teams/:id/skills',
    {
      schema: {
        tags,
        params: idInPath,
        description: 'The skills that jobs of the team may load, and why they may not load the others.',
        response: {
          200: z.object({
            skills: z.array(z.object({ id: z.int(), ref: z.string(), name: z.string(), bots: z.array(z.string()) })),
            leftOut: z.array(
              z.object({ id: z.int(), ref: z.string(), name: z.string(), bot: z.string(), reason: z.string() }),
            ),
          }),
          ...problems,
        },
      },
    },
    async (request) => await teamSkills(db, numberOf(request.params.id), viewerIn(request)),
  );
}

/** The owner of a new object. @throws SkillcellError `auth.forbidden` */
export function ownerOf({ userId, role }: Actor, isPublic: boolean): number {
  if (!isPublic) return userId;
  if (role !== 'admin') throw forbidden('only an admin may publish for all users');
  return PUBLIC;
}

interface Reply {
  header(name: string, value: string): unknown;
  send(form: KindForm): Reply;
}

function sendKind<Sent extends Reply>(reply: Sent, object: KindObject): Sent {
  reply.header('etag', etagOf(object.revision));
  return reply.send(kindForm(object)) as Sent;
}
