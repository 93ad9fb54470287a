import * as z from 'zod/mini';
import type { Diagnostic } from '../contracts/errors/diagnostic.ts';
import type { ScanFinding } from '../scan/scan-finding.ts';
import { type AskService, jsonOf, serviceConnection, type ServiceRequest } from './ask-service.ts';
import type { ConnectServiceOptions } from './service-client.ts';

/** An archive with one skill. */
export interface PushOptions {
  bytes: Uint8Array;
  /** Its file name. */
  file: string;
  /** Name of the skill at the service. */
  name: string;
  /** Whether the skill is for all users. */
  isPublic: boolean;
  signal: AbortSignal;
}

/** The skill at the service, and the findings of its check. */
export interface PushedSkill {
  state: 'created' | 'updated' | 'unchanged';
  id: number;
  name: string;
  digest: string;
  diagnostics: Diagnostic[];
  findings: ScanFinding[];
  changes: { path: string; state: 'added' | 'removed' | 'changed' }[];
}

/** Skills in one page of a list. */
const PAGE = 100;

const formSchema = z.looseObject({
  metadata: z.looseObject({ name: z.string(), labels: z.looseObject({ id: z.string() }) }),
});
const listSchema = z.looseObject({ items: z.array(formSchema) });
const messages = z.array(z.looseObject({ code: z.string(), severity: z.string(), message: z.string() }));
const uploadSchema = z.looseObject({
  skill: z.nullable(formSchema),
  ...{ name: z.string(), digest: z.string(), diagnostics: messages, findings: messages },
  changes: z.array(z.looseObject({ path: z.string(), state: z.enum(['added', 'removed', 'changed']) })),
});

/**
 * Uploads a skill, as the next version if the service has one of its name. Unchanged files make no version.
 *
 * @throws SkillcellError with the code of a refusal, or `service.unavailable`
 */
export async function pushSkill(options: ConnectServiceOptions, push: PushOptions): Promise<PushedSkill> {
  const { ask } = serviceConnection(options);
  const { bytes, file, name, isPublic, signal } = push;
  const form = (): FormData => {
    const made = new FormData();
    made.set('file', new Blob([new Uint8Array(bytes)]), file);
    return made;
  };
  const upload = async (path: string, request: ServiceRequest): Promise<z.infer<typeof uploadSchema>> =>
    await ask(path, { signal, once: true, ...request }, jsonOf(uploadSchema));
  const id = await idOf(ask, push);
  if (id === undefined) {
    const body = form();
    body.set('name', name);
    const created = await upload(isPublic ? '/skills/public' : '/skills/upload', { method: 'POST', body });
    return pushed('created', created.skill?.metadata.labels.id ?? '', created);
  }
  const etag = await ask(`/skills/${id}`, { signal }, ({ headers }) => headers.get('etag') ?? '');
  const request: ServiceRequest = { method: 'PUT', headers: { 'if-match': etag }, body: form() };
  const checked = await upload(`/skills/${id}?dryRun=1`, { ...request, once: false });
  if (checked.changes.length === 0) return pushed('unchanged', id, checked);
  return pushed('updated', id, await upload(`/skills/${id}`, request));
}

/** The id of the user's skill of a name, or of the public one. */
async function idOf(ask: AskService, { name, isPublic, signal }: PushOptions): Promise<string | undefined> {
  for (let skip = 0; ; skip += PAGE) {
    const skills = isPublic
      ? await ask(`/skills/public/list?skip=${skip}&limit=${PAGE}`, { signal }, jsonOf(z.array(formSchema)))
      : (await ask(`/skills?name=${encodeURIComponent(name)}`, { signal }, jsonOf(listSchema))).items;
    const found = skills.find(({ metadata }) => metadata.name === name);
    if (found !== undefined || skills.length < PAGE) return found?.metadata.labels.id;
  }
}

function pushed(state: PushedSkill['state'], id: string, answer: z.infer<typeof uploadSchema>): PushedSkill {
  const { name, digest, diagnostics, findings, changes } = answer;
  return { state, id: Number(id), name, digest, diagnostics, findings, changes } as unknown as PushedSkill;
}
