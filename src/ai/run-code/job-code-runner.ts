import { fromSdkTools } from '../../tools/define/sdk-tools.ts';
import type { Orchestrator } from '../../jobs/orchestrator.ts';
import type { CodeRunner } from './code-runner.ts';
import { jobOptions } from '../job-options.ts';
import type { SandboxToolsSettings } from '../sandbox-tools-options.ts';
import { shownJob } from '../answers/shown-run.ts';

/** Runs each program in a sandbox of its own. */
export function createJobCodeRunner(orchestrator: Orchestrator, settings: SandboxToolsSettings): CodeRunner {
  const { language, tools: chosen, skills: refs, consumer, outputCharacters } = settings;
  return {
    requireBindable: () => undefined,
    async run({ code, call, context = settings.context, tools, signal }) {
      const result = await orchestrator.exec({
        ...jobOptions(settings),
        code,
        language,
        tools: [...chosen, ...fromSdkTools(tools, () => call)],
        skills: { refs, consumer },
        context,
        ...(signal === undefined ? {} : { signal }),
      });
      return shownJob(result, outputCharacters);
    },
  };
}
