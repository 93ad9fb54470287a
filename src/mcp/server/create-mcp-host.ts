import { McpServer } from '@modelcontextprotocol/server';
import { sandboxSentences } from '../../contracts/network/told-network.ts';
import { networkOfJobs } from '../../jobs/network/network-port.ts';
import { createCallAdmission } from './call-admission.ts';
import { closeSessionTool, openSessionTool } from './tools/session-tools.ts';
import { createOpenSessions } from './open-sessions.ts';
import { registerTool } from './register-tool.ts';
import { createResourceStore } from './resources/resource-store.ts';
import { runCodeTool } from './tools/run-code-tool.ts';
import { runSkillScriptTool } from './tools/run-skill-script-tool.ts';
import { runTaskTool } from './tools/run-task-tool.ts';
import { serveResources } from './resources/serve-resources.ts';
import type { McpServerSettings } from './server-settings.ts';
import { loadSkillCatalog } from './skill-catalog.ts';
import { listSkillsTool, loadSkillTool, readSkillFileTool, searchSkillsTool } from './tools/skill-tools.ts';

/** Bytes of resources that were too large for results; artifacts have room of their own. */
const KEPT_BYTES: number = 24 * 1024 * 1024;

const NO_NETWORK = 'Runs code in isolated sandboxes without network.';
const INSTRUCTIONS =
  'run_code runs a program you wrote; open_session keeps one sandbox for several of them. ' +
  'list_skills and load_skill give instructions for certain tasks: load the skill that fits before you write code for its task. ' +
  'Large parts of a result are resources that the result links to.';

/** A server for any number of connections, which share its sandboxes, sessions and resources. Those end with the orchestrator. */
export interface McpHost {
  /** Creates a face of the server for one connection, or one request. */
  face(): Promise<McpServer>;
  /** Registers a listener for changes of the lists that clients see. Connected faces notify their own clients. */
  onListChanged(listener: () => void): void;
  /** Stops following the skills. */
  close(): void;
}

/**
 * Creates the server. It starts no sandbox and opens no port.
 *
 * @throws SkillcellError as a job with the server's network
 */
export function createMcpHost(settings: McpServerSettings): McpHost {
  const { orchestrator, version, log, job } = settings;
  const network = networkOfJobs(orchestrator, job);
  const beginning =
    network === undefined
      ? NO_NETWORK
      : sandboxSentences(
          network,
          'Runs code in isolated sandboxes whose network is open to these places alone',
          NO_NETWORK,
        ).join(' ');
  const store = createResourceStore(KEPT_BYTES);
  const sessions = createOpenSessions((options) => orchestrator.session(options));
  const state = { settings, store, sessions };
  const options = { admission: createCallAdmission(), log };
  const offers = [
    registerTool(runCodeTool(state), options),
    registerTool(runTaskTool(state), options),
    registerTool(runSkillScriptTool(state), options),
    registerTool(openSessionTool(state), options),
    registerTool(closeSessionTool(state), options),
    registerTool(listSkillsTool(state), options),
    registerTool(searchSkillsTool(state), options),
    registerTool(loadSkillTool(state), options),
    registerTool(readSkillFileTool(state), options),
  ];
  let catalog: ReturnType<typeof loadSkillCatalog> | undefined;
  const listeners: (() => void)[] = [];
  const renew = async (): Promise<void> => {
    const isOther = await (await catalog)?.renew();
    if (isOther === true) for (const listener of listeners) listener();
  };
  const following = settings.skills.subscribe?.(() => {
    renew().catch((error: unknown) => log(`The skills are served as they were: ${String(error)}`));
  });
  return {
    onListChanged: (listener) => void listeners.push(listener),
    close: () => following?.[Symbol.dispose](),
    async face() {
      const server = new McpServer(
        { name: 'skillcell', version },
        {
          instructions: `${beginning} ${INSTRUCTIONS}`,
          capabilities: { tools: { listChanged: false }, resources: { listChanged: following !== undefined } },
        },
      );
      for (const offer of offers) offer(server);
      serveResources(server, orchestrator, store);
      catalog ??= loadSkillCatalog(settings).catch((error: unknown) => {
        // The next connection tries again.
        catalog = undefined;
        throw error;
      });
      (await catalog).catalog.attach(server);
      return server;
    },
  };
}
