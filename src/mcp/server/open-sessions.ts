import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { Session, SessionOptions } from '../../contracts/jobs/session.ts';
import { quotedText } from '../../contracts/text/quoted-text.ts';
import { createJobQueue } from '../../jobs/supply/job-queue.ts';

/** Sandboxes that may start at the same time: if a client asks for many, all of them would start too slowly. */
const AT_ONCE = 2;

/** The open sessions of clients, by id. */
export interface OpenSessions {
  /** @throws the signal's reason when it aborts before the session is begun, and errors of the opening */
  open(options: SessionOptions, signal: AbortSignal): Promise<Session>;
  /** @throws SkillcellError `session.ended` */
  find(id: string): Session;
}

/** Starts without sessions. An ended session is forgotten, however it ended. */
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
      const message = `Cannot use the session: no session with this id is open, got ${quotedText(id)}.`;
      throw new SkillcellError('session.ended', message, {
        hint: 'Open a session by open_session. A session ends by close_session, after idle time, and with the server.',
      });
    },
  };
}
