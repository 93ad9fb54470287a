import * as z from 'zod/mini';
import type { Session, SessionResult, SessionRun } from '../../contracts/jobs/session.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { askCode, guestCode, NO_GUEST } from './guest.ts';
import { GuestRefusal } from './guest-refusal.ts';

/** The result of an operation inside. Hostile code may have made it. */
export interface GuestReply<Said> {
  said: Said;
  bytes: Uint8Array;
}

/** Asks the guest in a session, one operation after the other. */
export interface GuestLink {
  /**
   * @param said schema of the answer
   * @throws GuestRefusal with the fault that the sandbox reports
   * @throws SkillcellError `sandbox.lost` if the interpreter ended meanwhile, and errors of a run of the session
   */
  ask<Said>(operation: string, given: object, said: z.ZodMiniType<Said>): Promise<GuestReply<Said>>;
  /** A number that no other id has. */
  nextId(): number;
}

const refusalSchema = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

/** A session has one guest and one link to it: two links would give out the same numbers. */
const links = new WeakMap<Session, GuestLink>();

/** The link to the guest of a session. */
export function guestLink(session: Session): GuestLink {
  const link = links.get(session) ?? createGuestLink(session);
  links.set(session, link);
  return link;
}

/** Creates the link. The guest is put into the session at first use, and again if its interpreter was lost. */
function createGuestLink(session: Session): GuestLink {
  let turn: Promise<unknown> = Promise.resolve();
  let lastId = 0;
  const nextId = (): number => (lastId += 1);

  const askNow = async <Said>(
    operation: string,
    given: object,
    schema: z.ZodMiniType<Said>,
  ): Promise<GuestReply<Said>> => {
    const ask = nextId();
    const code = askCode(ask, operation, given);
    let done = await run(code);
    if (done.value === NO_GUEST) {
      await run(guestCode());
      done = await run(code);
    }
    const found = answerOf(done, ask);
    if (found === undefined) throw lost('its JavaScript gives no answer');
    return readReply(found, schema);
  };
  const run = async (code: string): Promise<SessionRun> => {
    // To the session's tools and events this is a run like any other. It takes no signal: an aborted operation would stay half done.
    const done = await session.run(code, { language: 'javascript' });
    if (done.state === 'lost') throw lost(`its interpreters were ended, ${done.error?.message ?? done.outcome}`);
    if (done.outcome !== 'succeeded') throw lost(done.error?.message ?? done.outcome);
    return done;
  };
  return {
    nextId,
    ask(operation, given, said) {
      const work = turn.then(() => askNow(operation, given, said));
      // A failed operation does not fail the next one.
      turn = work.catch(() => undefined);
      return work;
    },
  };
}

/** The answer to one question, among other results that user code displays meanwhile. */
function answerOf({ results }: SessionRun, ask: number): { said: object; bytes: Uint8Array } | undefined {
  for (const { data } of results) {
    const said = readJson(data);
    const bytes = data['application/octet-stream'];
    if (said?.['ask'] === ask && bytes instanceof Uint8Array) return { said, bytes };
  }
  return undefined;
}

function readJson(data: SessionResult['data']): Record<string, unknown> | undefined {
  try {
    const said: unknown = JSON.parse(String(data['application/json']));
    return typeof said === 'object' && said !== null ? (said as Record<string, unknown>) : undefined;
  } catch {
    // Displayed by user code.
    return undefined;
  }
}

function readReply<Said>(
  { said, bytes }: { said: object; bytes: Uint8Array },
  schema: z.ZodMiniType<Said>,
): GuestReply<Said> {
  const refusal = z.safeParse(refusalSchema, said);
  if (refusal.success) throw new GuestRefusal(refusal.data.error.code, refusal.data.error.message);
  const read = z.safeParse(schema, said);
  if (!read.success) throw lost('its answer has another form than expected');
  return { said: read.data, bytes };
}

/** The reason is text of hostile code, as in the errors of a run. */
function lost(reason: string): SkillcellError {
  return new SkillcellError('sandbox.lost', `Cannot go on with the session: ${reason}.`);
}
