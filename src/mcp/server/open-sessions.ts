import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { Session, SessionOptions } from '../../contracts/jobs/session.ts';
import { quotedText } from '../../contracts/text/quoted-text.ts';
import { createJobQueue } from '../../jobs/supply/job-queue.ts';

/** Sandboxes that are started at once; a client that asks for many would else have none of them start in its time. */
const AT_ONCE = 2;

/** The sessions that clients have open, by id. */
export interface OpenSessions {
  /** @throws the signal's reason when it aborts before the session is begun, and what the session's opening throws */
  open(options: SessionOptions, signal: AbortSignal): Promise<Session>;
  /** @throws SkillcellError `session.ended` */
  find(id: string): Session;
}

/** Starts with none. A session is forgotten when it has ended, whoever ended it. */
export function createOpenSessions(open: (options: SessionOptions) => Promise<Session>): OpenSessions {
  const sessions = new Map<string, Session>();
  const starts = createJobQueue(AT_ONCE, Number.POSITIVE_INFINITY);
  return {
    async open(options, signal) {
      const release = await starts.enter(signal);
      const session = await open(options).finally(release);
      sessions.set(session.id, session);
      const forget = (): boolean => sessions.delete(session.id);
      session.ended.then(forget, forget);
      return session;
    },
    find(id) {
      const session = sessions.get(id);
      if (session !== undefined) return session;
      const message = `Cannot use the session: none with this id is open, got ${quotedText(id)}.`;
      throw new SkillcellError('session.ended', message, {
        hint: 'Open a session by open_session; one ends by close_session, when it does nothing, and with the server.',
      });
    },
  };
}
