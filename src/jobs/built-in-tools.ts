import type { Tool } from '../tools/define/tool.ts';
import { acceptJob } from './run/accept-job.ts';
import type { JobHost } from './run/job-host.ts';
import { createRunScriptTool } from './run-script-tool.ts';

/** Tools that jobs may name beside those of the orchestrator's caller, who has none that begin as these do. */
export function builtInTools(host: JobHost): Tool[] {
  const { settings, running, leaving } = host;
  if (settings.skills === undefined) return [];
  const runScript = createRunScriptTool({
    jobOf: (jobId) => running.get(jobId),
    run(request, queue, skills) {
      const result = acceptJob(host, request, undefined, { queue, skills });
      // A job that ends earlier leaves its scripts to be ended; a host that closes waits for that.
      leaving.add(
        result.then(
          () => undefined,
          () => undefined,
        ),
      );
      return result;
    },
  });
  return [runScript];
}
