import type { OpenSessions } from '../open-sessions.ts';
import type { ResourceStore } from '../resources/resource-store.ts';
import type { McpServerSettings } from '../server-settings.ts';

/** State that all connections of one server share, so that any of them may go on with it. */
export interface ServerState {
  settings: McpServerSettings;
  store: ResourceStore;
  sessions: OpenSessions;
}
