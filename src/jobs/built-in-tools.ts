import type { Tool } from '../tools/define/tool.ts';
import { acceptJob } from './run/accept-job.ts';
import type { JobHost } from './run/job-host.ts';
import { createRunScriptTool } from './run-script-tool.ts';

/** Built-in tools that jobs may name in addition to the orchestrator's tools. Their id prefix is reserved. */
export function builtInTools(host: JobHost): Tool[] {
  const { settings, running, leaving } = host;
  if (settings.skills === undefined) return [];
  const runScript = createRunScriptTool({
    jobOf: (jobId) => running.get(jobId),
    run(request, queue, skills) {
      const result = acceptJob(host, request, undefined, { queue, skills });
      // The job may end before its script: the closing host waits for the script.
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
