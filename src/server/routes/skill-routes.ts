import type { FastifyReply } from 'fastify';
import * as z from 'zod';
import { kindForm } from '../../registry/kinds/kind-object.ts';
import { TEAM_SCHEMA } from '../../registry/kinds/find-team.ts';
import { PUBLIC } from '../../registry/kinds/kind-rows.ts';
import { NAME_SCHEMA, NAMESPACE_SCHEMA } from '../../registry/kinds/kind-schemas.ts';
import { getKind, listKinds } from '../../registry/kinds/kinds.ts';
import { deleteSkill, listReferences, removeReferences } from '../../registry/skills/skill-references.ts';
import { downloadSkill, invokeSkill, listUnified, listVersions } from '../../registry/skills/skill-versions.ts';
import { rollBackSkill } from '../../registry/skills/store-skill.ts';
import { packSkillForm, updateSkill, uploadSkill, type UploadResult } from '../../registry/skills/upload-skill.ts';
import { viewerIn } from '../http/authenticate.ts';
import { etagOf, hasRevision, revisionIn } from '../http/etag.ts';
import { problemOf, RequestRefused } from '../http/problem.ts';
import { invalidAt } from '../http/validate.ts';
import { bytesAnswer, idInPath, noContent, numberInQuery, problems } from '../schemas/common.ts';
import { kindFormSchema, kindListSchema, unifiedSchema } from '../schemas/kinds.ts';
import {
  referencedSchema,
  referrerSchema,
  skillFieldsSchema,
  type UploadAnswer,
  uploadSchema,
  versionSchema,
} from '../schemas/skills.ts';
import { ownerOf } from './kind-routes.ts';
import { withUpload } from './read-upload-form.ts';
import type { App, RouteParts } from './route-options.ts';
import { numberOf } from './user-routes.ts';

const tags = ['skills'];
const page = { skip: numberInQuery(0, 999_999_999).optional(), limit: numberInQuery(1, 100).optional() };
const dryRunQuery = z.strictObject({ dryRun: z.literal('1').optional() });
const consumes = ['multipart/form-data'];
const ghostParams = z.strictObject({ id: z.string().max(100), ghostId: z.string().max(100) });

/** Skills and their versions. */
export function addSkillRoutes(app: App, { database: { db }, now, incoming }: RouteParts): void {
  app.post(
    '/skills/upload',
    {
      schema: {
        ...{ tags, consumes, querystring: dryRunQuery },
        description:
          'A form with the archive in `file`, and `name` and `namespace`. Without `name`, the skill has the name of the file without its ending. `dryRun=1` checks it, and stores nothing.',
        response: { 200: uploadSchema, 201: uploadSchema, ...problems },
      },
    },
    async (request, reply) => {
      const actor = viewerIn(request);
      const dryRun = request.query.dryRun === '1';
      const uploaded = await withUpload(request, reply, incoming, (form, signal) =>
        uploadSkill(db, form, { owner: actor.userId, actor, now: now(), dryRun, signal }),
      );
      return sendUpload(reply.code(dryRun ? 200 : 201), uploaded);
    },
  );

  app.get(
    '/skills',
    {
      schema: {
        ...{ tags, description: 'Own skills.' },
        querystring: z.strictObject({ ...page, name: NAME_SCHEMA.optional(), namespace: NAMESPACE_SCHEMA.optional() }),
        response: { 200: kindListSchema, ...problems },
      },
    },
    async (request) => {
      const actor = viewerIn(request);
      const { skip = 0, limit = 50, ...filter } = request.query;
      const { items, total } = await listKinds(db, 'Skill', actor, { skip, limit, ...filter, owner: actor.userId });
      return { items: items.map(kindForm), total };
    },
  );

  app.get(
    '/skills/unified',
    {
      schema: {
        tags,
        description:
          'Own skills, then public ones. An own skill hides a public one of the same name. The scope `everyone` adds the skills of other users, for those who may read them.',
        querystring: z.strictObject({ ...page, scope: z.enum(['own', 'public', 'all', 'everyone']).optional() }),
        response: { 200: z.array(unifiedSchema), ...problems },
      },
    },
    async (request) => {
      const { skip = 0, limit = 50, scope = 'all' } = request.query;
      const skills = await listUnified(db, viewerIn(request), { skip, limit, scope });
      return skills.map((skill) => ({ ...kindForm(skill), hidden: skill.hidden }));
    },
  );

  app.get(
    '/skills/public/list',
    {
      schema: {
        ...{ tags, querystring: z.strictObject(page) },
        response: { 200: z.array(kindFormSchema), ...problems },
      },
    },
    async (request) => {
      const { skip = 0, limit = 100 } = request.query;
      const { items } = await listKinds(db, 'Skill', viewerIn(request), { skip, limit, owner: PUBLIC });
      return items.map(kindForm);
    },
  );

  app.post(
    '/skills/public',
    {
      config: { access: 'admin' },
      schema: {
        ...{ tags, consumes: ['multipart/form-data', 'application/json'], querystring: dryRunQuery },
        description: 'Publishes a skill for all users: a form as for an upload, or its fields as JSON.',
        response: { 200: uploadSchema, 201: uploadSchema, ...problems },
      },
    },
    async (request, reply) => {
      const actor = viewerIn(request);
      const dryRun = request.query.dryRun === '1';
      const upload = (form: Parameters<typeof uploadSkill>[1], signal?: AbortSignal): Promise<UploadResult> =>
        uploadSkill(db, form, { owner: ownerOf(actor, true), actor, now: now(), dryRun, signal });
      const uploaded = request.isMultipart()
        ? await withUpload(request, reply, incoming, upload)
        : await upload(await formOf(request.body));
      return sendUpload(reply.code(dryRun ? 200 : 201), uploaded);
    },
  );

  app.post(
    '/skills/invoke',
    {
      config: { access: 'any-user' },
      schema: {
        ...{ tags, description: 'The prompt of a skill: own before public, or one that the team may load.' },
        body: z.strictObject({ skill_name: NAME_SCHEMA, team: TEAM_SCHEMA.optional() }),
        response: { 200: z.object({ prompt: z.string() }), ...problems },
      },
    },
    async (request) => {
      const { skill_name: skillName, team } = request.body;
      const { prompt } = await invokeSkill(db, { skillName, team }, viewerIn(request));
      return { prompt };
    },
  );

  app.get(
    '/skills/:id',
    { schema: { tags, params: idInPath, response: { 200: kindFormSchema, 304: noContent, ...problems } } },
    async (request, reply) => {
      const skill = await getKind(db, 'Skill', numberOf(request.params.id), viewerIn(request));
      void reply.header('etag', etagOf(skill.revision));
      if (hasRevision(request, skill.revision)) return reply.code(304).send(null);
      return reply.send(kindForm(skill));
    },
  );

  app.get(
    '/skills/:id/download',
    {
      schema: {
        ...{ tags, params: idInPath, description: 'The uploaded bytes of a version, by default of the present one.' },
        querystring: z.strictObject({ version: numberInQuery(1, 999_999_999).optional() }),
        response: { 200: bytesAnswer, ...problems },
      },
    },
    async (request, reply) => {
      const id = numberOf(request.params.id);
      const { slug, version, bytes, fileHash } = await downloadSkill(db, id, viewerIn(request), request.query.version);
      const name = encodeURIComponent(`${slug}-${version}`);
      void reply.header('content-disposition', `attachment; filename*=UTF-8''${name}`).header('etag', `"${fileHash}"`);
      return reply.type('application/octet-stream').send(Buffer.from(bytes));
    },
  );

  app.put(
    '/skills/:id',
    {
      schema: {
        ...{ tags, consumes, params: idInPath, querystring: dryRunQuery },
        description:
          'Stores the archive as the next version. `If-Match` names the version that the change is based on.',
        response: { 200: uploadSchema, ...problems },
      },
    },
    async (request, reply) => {
      const [actor, id] = [viewerIn(request), numberOf(request.params.id)];
      const dryRun = request.query.dryRun === '1';
      await getKind(db, 'Skill', id, actor);
      const revision = revisionIn(request);
      const uploaded = await withUpload(request, reply, incoming, (form, signal) =>
        updateSkill(db, id, form, { actor, revision, now: now(), dryRun, signal }),
      );
      return sendUpload(reply.code(200), uploaded);
    },
  );

  app.delete(
    '/skills/:id',
    { schema: { tags, params: idInPath, response: { 204: noContent, 409: referencedSchema, ...problems } } },
    async (request, reply) => {
      const { referencedGhosts } = await deleteSkill(db, numberOf(request.params.id), viewerIn(request));
      if (referencedGhosts.length === 0) return reply.code(204).send(null);
      const refusal = new RequestRefused('resource.referenced', 'Cannot delete the skill: ghosts refer to it.');
      const ghosts = referencedGhosts.map(({ id, name, namespace }) => ({ id, name, namespace }));
      void reply.code(409).type('application/problem+json').serializer(JSON.stringify);
      return reply.send({ ...problemOf(refusal, request.id), referenced_ghosts: ghosts });
    },
  );

  app.get(
    '/skills/:id/versions',
    { schema: { tags, params: idInPath, response: { 200: z.array(versionSchema), ...problems } } },
    async (request) => await listVersions(db, numberOf(request.params.id), viewerIn(request)),
  );

  app.post(
    '/skills/:id/rollback',
    {
      schema: {
        ...{ tags, params: idInPath, description: 'Stores the content of a version as the next version.' },
        body: z.strictObject({ version: z.int().min(1) }),
        response: { 200: kindFormSchema, ...problems },
      },
    },
    async (request, reply) => {
      const [actor, id] = [viewerIn(request), numberOf(request.params.id)];
      const revision = request.headers['if-match'] === undefined ? {} : { revision: revisionIn(request) };
      await rollBackSkill(db, id, request.body.version, { actor, now: now(), ...revision });
      const skill = await getKind(db, 'Skill', id, actor);
      return reply.header('etag', etagOf(skill.revision)).send(kindForm(skill));
    },
  );

  app.get(
    '/skills/:id/references',
    {
      schema: {
        ...{ tags, params: idInPath, description: 'The ghosts with the skill, their bots, and the teams of these.' },
        response: { 200: z.array(referrerSchema), ...problems },
      },
    },
    async (request) => await listReferences(db, numberOf(request.params.id), viewerIn(request)),
  );

  const removedSchema = z.object({ removed: z.int() });
  app.post(
    '/skills/:id/remove-references',
    { schema: { tags, params: idInPath, response: { 200: removedSchema, ...problems } } },
    async (request) => {
      const options = { actor: viewerIn(request), now: now() };
      return { removed: await removeReferences(db, numberOf(request.params.id), options) };
    },
  );

  app.post(
    '/skills/:id/remove-references/:ghostId',
    { schema: { tags, params: ghostParams, response: { 200: removedSchema, ...problems } } },
    async (request) => {
      const ghostId = numberOf(request.params.ghostId);
      const options = { actor: viewerIn(request), now: now(), ghostId };
      return { removed: await removeReferences(db, numberOf(request.params.id), options) };
    },
  );
}

/** A public skill from its fields. @throws {RequestRefused} `request.invalid` */
async function formOf(body: unknown): Promise<Parameters<typeof uploadSkill>[1]> {
  const checked = skillFieldsSchema.safeParse(body);
  if (checked.success) return { ...(await packSkillForm(checked.data)), name: checked.data.name };
  throw invalidAt('skill', checked.error);
}

function sendUpload(reply: FastifyReply, { checked, changes, skill }: UploadResult): FastifyReply {
  const { name, slug, digest, diagnostics, findings, files } = checked;
  if (skill !== undefined) void reply.header('etag', etagOf(skill.revision));
  const form = skill === undefined ? null : kindForm(skill);
  return reply.send({ skill: form, name, slug, digest, diagnostics, findings, files, changes } satisfies UploadAnswer);
}
