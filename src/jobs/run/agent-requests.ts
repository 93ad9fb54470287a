import * as z from 'zod/mini';
import { describeTool } from '../../tools/define/offered-tool.ts';
import type { BrokerReply } from '../../tools/calls/broker-call.ts';
import { ToolError } from '../../tools/define/tool-errors.ts';
import { DEFAULT_CONSUMER } from '../../contracts/jobs/job.ts';
import { findLanguage } from '../../languages/languages.ts';
import { JsonRefused, parseBoundedJson } from '../../protocol/channel/bounded-json.ts';
import type { RequestAnswer } from '../../protocol/messages/messages.ts';
import { exportRuntimeGlobals } from '../../skills/index.ts';
import type { PreparedJob } from '../prepare/prepare-job.ts';
import { MAX_REQUESTS } from '../prepare/prompt-tools.ts';
import { sendSkills } from '../prepare/skill-archives.ts';

const REQUEST_BYTES = 16 * 1024;
/** Maximum characters of the texts of one answer. */
const TEXT_CHARACTERS = 200 * 1024;

const name = z.string().check(z.minLength(1), z.maxLength(300));
const requestSchema = z.strictObject({
  skills: z.optional(z.array(name).check(z.maxLength(20))),
  files: z.optional(
    z
      .array(z.strictObject({ skill: name, path: z.string().check(z.minLength(1), z.maxLength(4_096)) }))
      .check(z.maxLength(20)),
  ),
  tools: z.optional(z.array(name).check(z.maxLength(50))),
});
type Request = z.infer<typeof requestSchema>;

/** Requests that the agent of a job makes in place of a program. */
export interface AgentRequests {
  /** Answers a request. @param text contents of the model's block; hostile */
  serve(text: unknown): Promise<BrokerReply & { ok: true }>;
  /** Whether the digest is that of a block that the host rendered for requested skills. */
  isExpected(instructionSha256: string | null): boolean;
}

/** Serves the requests of one job under the policy of its consumer. */
export function createAgentRequests(job: PreparedJob): AgentRequests {
  const expected = new Set<string>();
  const active = new Set(job.active);
  let served = 0;

  const serve = async (text: unknown): Promise<BrokerReply & { ok: true }> => {
    served += 1;
    const answer: RequestAnswer = { notes: [], texts: [] };
    const request = readRequest(text);
    if (served > MAX_REQUESTS) answer.notes.push('There is no request left.');
    else if (typeof request === 'string') answer.notes.push(`The request cannot be read: ${request}.`);
    else return await serveRequest(request, answer);
    return { ok: true, value: answer };
  };

  const serveRequest = async (
    { skills = [], files = [], tools = [] }: Request,
    answer: RequestAnswer,
  ): Promise<BrokerReply & { ok: true }> => {
    for (const id of tools) answer.texts.push(...(await declare(job, id, answer.notes)));
    for (const file of files) await readFile(job, file, answer);
    const archive = skills.length === 0 ? undefined : await loadSkills(skills, answer);
    if (archive === undefined) return { ok: true, value: answer };
    return {
      ok: true,
      value: { ...answer, archive: null },
      places: [{ path: ['archive'], bytes: archive.length }],
      parts: [archive],
    };
  };

  const loadSkills = async (given: string[], answer: RequestAnswer): Promise<Buffer | undefined> => {
    const { skills: asked = {} } = job.request;
    const { consumer = DEFAULT_CONSUMER, variant, includeInternal } = asked;
    const who = { consumer, variant, includeInternal, tools: [...job.tools.keys()] };
    if (job.disclosure === undefined) {
      answer.notes.push('There are no skills here.');
      return undefined;
    }
    const { disclosure } = job;
    const refs = given.map((ref) => disclosure.idOf(ref));
    const subsystem = await disclosure.whole(refs).catch((error: unknown) => {
      if (!(error instanceof ToolError)) throw error;
      answer.notes.push(error.message);
    });
    if (subsystem === undefined) return undefined;
    const { rows } = subsystem.resolve(refs, who);
    const wanted: string[] = [];
    for (const { ref, id, status } of rows) {
      if (status === 'unknown' || status === 'denied' || id === undefined)
        answer.notes.push(job.disclosure.unknown(ref));
      else if (active.has(id)) answer.notes.push(`${id} is already active.`);
      else if (status === 'loaded') wanted.push(id);
    }
    if (wanted.length === 0) return undefined;
    const brought = await disclosure.bring(wanted).catch((error: unknown) => {
      if (!(error instanceof ToolError)) throw error;
      answer.notes.push(error.message);
    });
    if (brought === undefined) return undefined;
    for (const id of brought) answer.texts.push(...(await declare(job, id, answer.notes)));
    const { pool } = job.disclosure;
    const exported = exportRuntimeGlobals(subsystem, { ...who, refs: wanted, pool });
    const block = subsystem.buildSkillsInstructionBlock({ ...who, refs: wanted, pool });
    for (const id of block.active) active.add(id);
    expected.add(block.sha256);
    job.disclosure.join(block.active, block.pool);
    answer.skills = { descriptor: exported.descriptor, refs: exported.refs, pool };
    const chunks: Uint8Array[] = [];
    await sendSkills(exported.trees, { write: async (chunk) => void chunks.push(chunk), end: () => undefined });
    return Buffer.concat(chunks);
  };

  return { serve, isExpected: (sha256) => sha256 !== null && expected.has(sha256) };
}

function readRequest(text: unknown): Request | string {
  if (typeof text !== 'string') return 'it is no text';
  try {
    const parsed = z.safeParse(requestSchema, parseBoundedJson(Buffer.from(text), { maxBytes: REQUEST_BYTES }));
    return parsed.success
      ? parsed.data
      : 'it must be JSON with lists `skills`, `files` of { skill, path }, and `tools`';
  } catch (error) {
    if (error instanceof JsonRefused) return `it is no JSON, ${error.message.slice(0, 200)}`;
    throw error;
  }
}

async function declare(job: PreparedJob, id: string, notes: string[]): Promise<RequestAnswer['texts']> {
  const offered = job.tools.get(id);
  const tag = findLanguage(job.language)?.guide.declarations;
  if (offered === undefined || tag === undefined) {
    notes.push(`The job has no tool ${JSON.stringify(id)}.`);
    return [];
  }
  const { toolStub } = await import('../../tools/declarations/tool-stubs.ts');
  return [{ label: `tool ${id}`, text: toolStub({ ...describeTool(offered), output: offered.output?.json }, tag) }];
}

async function readFile(
  job: PreparedJob,
  { skill, path }: { skill: string; path: string },
  answer: RequestAnswer,
): Promise<void> {
  const { notes, texts } = answer;
  const used = texts.reduce((sum, { text }) => sum + text.length, 0);
  if (job.disclosure === undefined) return void notes.push('There are no skills here.');
  try {
    const { text, lines, more } = await job.disclosure.read({ skill, path });
    if (used + text.length > TEXT_CHARACTERS)
      return void notes.push(`${path} of ${skill} is too long to be shown here.`);
    texts.push({ label: `${path} of ${skill}`.slice(0, 300), text });
    if (more) notes.push(`${path} of ${skill} has ${lines} lines; the first ones are shown.`);
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    notes.push(error.message);
  }
}
