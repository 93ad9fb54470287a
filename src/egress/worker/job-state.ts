import type { Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import type { Authority } from '../certificates/create-authority.ts';
import type { WashTable } from '../secrets/wash-table.ts';
import type { UsedShare } from './used-share.ts';
import type { EgressJob } from './worker-messages.ts';

/** The state of one job in the worker. */
export interface JobState {
  token: string;
  job: EgressJob;
  authority: Authority;
  /** Connections to hosts: a job never uses those of another one, which may have signed in. */
  agent: Dispatcher;
  /** Connections to registries with certificates of their own, by these certificates. */
  registryAgents: Map<string, Dispatcher>;
  /** Connections of programs. */
  sockets: Set<Socket>;
  /** Ends the requests under way, each with its row. */
  ongoing: Set<() => void>;
  used: UsedShare;
  /** What answers of its hosts are searched for, by the placeholders of the secrets. */
  tables: Map<string, WashTable>;
  /** Addresses of the last connections, by origin. */
  addresses: Map<string, string>;
}
