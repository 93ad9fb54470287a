import type { Session } from '../../contracts/jobs/session.ts';
import type { ToldNetwork } from '../../contracts/network/told-network.ts';
import type { CommandRequests } from './command-requests.ts';
import type { FileRequests } from './file-requests.ts';

/** The key of a session's port. It is not part of the public interface. */
export const SANDBOX_PORT: unique symbol = Symbol.for('skillcell.sandbox-port');

/** The way to the sandbox of a session for the adapter of the AI SDK. */
export interface SandboxPort extends Pick<FileRequests, 'begin' | 'perform'>, Pick<CommandRequests, 'spawn'> {
  /** Work during which the session does not count as idle. */
  busy<T>(work: Promise<T>): Promise<T>;
  /** The network of its code; undefined without one. */
  readonly network: ToldNetwork | undefined;
}

/** A session with its port. */
export interface HostedSession extends Session {
  readonly [SANDBOX_PORT]: SandboxPort;
}
