import * as z from 'zod/mini';
import { checkOptions } from '../contracts/checks/check-options.ts';
import type { AgentsConfig } from '../contracts/skills/skill.ts';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import type { Orchestrator } from '../jobs/orchestrator.ts';
import { checkedName, checkedPrefix } from '../library/stores/s3/key-fault.ts';
import { CONNECTION_SHAPE, checkConnection, type S3Connection } from '../library/stores/s3/s3-options.ts';

/** The user, the thread and the ticket of an agent, and the bucket with their skills and files. */
export interface S3BackendOptions extends S3Connection {
  /** Skills lie below `{userId}/skills/`. */
  userId: string;
  /** `/workspace` lies below `threads/{threadId}/`. Without it there is no `/workspace`. */
  threadId?: string | undefined;
  /** `/ticket` lies below `tickets/{ticketId}/`. Without it there is no `/ticket`. */
  ticketId?: string | undefined;
  /** Shared skills: below `{company}/skills/`, or, with a slash in it, below this prefix. The user's skills take precedence. */
  company?: string | undefined;
  /** Files that `/skills` shows: those of all skills, or of skills that `loadSkillContent` has loaded. @default 'all' */
  visible?: 'all' | 'loaded' | undefined;
  /** Whether `/ticket` may be written to. @default false */
  writableTicket?: boolean | undefined;
  /** The consumer: skills that a policy denies it are hidden. */
  consumer?: string | undefined;
  agentsConfig?: AgentsConfig | undefined;
  /** Folder of the cache for reads. @default the cache of this user of the machine */
  cacheDir?: string | undefined;
  /** Extracts the texts of PDFs, in a sandbox of level `namespace` or more. @default one of its own, at the first PDF */
  orchestrator?: Pick<Orchestrator, 'exec' | 'readArtifact'> | undefined;
  /** Limits for one PDF. @default 30 seconds, 384 MiB */
  pdfLimits?: { timeoutMs?: number | undefined; memoryMib?: number | undefined } | undefined;
}

/** Prefixes of a backend, each with a separator at its end. */
export interface BackendPrefixes {
  user: string;
  company: string | undefined;
  workspace: string | undefined;
  ticket: string | undefined;
}

const id = z.string().check(z.minLength(1), z.maxLength(200));
const rule = z.strictObject({ enabled: z.optional(z.array(z.string())), disabled: z.optional(z.array(z.string())) });
const whole = (least: number, most: number): z.ZodMiniNumber =>
  z.number().check(z.int(), z.minimum(least), z.maximum(most));
const schema = z.strictObject({
  ...CONNECTION_SHAPE,
  userId: id,
  threadId: z.optional(id),
  ticketId: z.optional(id),
  company: z.optional(id),
  visible: z.optional(z.enum(['all', 'loaded'])),
  writableTicket: z.optional(z.boolean()),
  consumer: z.optional(id),
  agentsConfig: z.optional(z.record(z.string(), rule)),
  cacheDir: z.optional(z.string().check(z.minLength(1))),
  orchestrator: z.optional(z.unknown()),
  pdfLimits: z.optional(
    z.strictObject({ timeoutMs: z.optional(whole(1, 600_000)), memoryMib: z.optional(whole(64, 4_096)) }),
  ),
});

/** Names of folders at the top of a bucket that no user or company may have. */
const TAKEN = new Set(['threads', 'tickets']);

/**
 * Checks options, and gives the prefix of each mount in the bucket.
 *
 * @throws SkillcellError `options.invalid`; `store.key-invalid` for an id that is no plain name
 */
export function readPrefixes(options: S3BackendOptions): BackendPrefixes {
  checkOptions(schema as z.ZodMiniType, options, { action: 'open the backend' });
  checkConnection(Object.fromEntries(Object.entries(options).filter(([name]) => name in CONNECTION_SHAPE)) as never);
  const { userId, threadId, ticketId, company } = options;
  const prefixes = {
    user: `${ownerName(userId, 'userId')}/skills/`,
    company:
      company === undefined
        ? undefined
        : company.includes('/')
          ? checkedPrefix(company)
          : `${ownerName(company, 'company')}/skills/`,
    workspace: threadId === undefined ? undefined : `threads/${checkedName(threadId, 'threadId')}/`,
    ticket: ticketId === undefined ? undefined : `tickets/${checkedName(ticketId, 'ticketId')}/`,
  };
  const { user, workspace, ticket } = prefixes;
  const shared = [user, workspace, ticket].find(
    (other) => other !== undefined && prefixes.company !== undefined && overlaps(other, prefixes.company),
  );
  if (shared !== undefined) {
    const message = `Cannot open the backend: the prefix of the company must not overlap with another one, got ${prefixes.company} and ${shared}.`;
    throw new SkillcellError('options.invalid', message);
  }
  return prefixes;
}

function overlaps(a: string, b: string): boolean {
  return a.startsWith(b) || b.startsWith(a);
}

/** Checks the first name of a key. */
function ownerName(name: string, field: string): string {
  if (!TAKEN.has(checkedName(name, field))) return name;
  const message = `Cannot open the backend: ${field} must not be the name of the folder of threads or tickets, got ${name}.`;
  throw new SkillcellError('store.key-invalid', message);
}
