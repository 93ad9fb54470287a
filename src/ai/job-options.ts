import type { JobOptions } from '../contracts/jobs/job.ts';
import type { SandboxToolsOptions } from './sandbox-tools-options.ts';

/** The options of tools that jobs and sessions share. */
export function jobOptions({
  runner,
  isolation,
  files,
  env,
  limits,
  network,
  secrets,
  packages,
}: SandboxToolsOptions): Pick<
  JobOptions,
  'runner' | 'isolation' | 'files' | 'env' | 'limits' | 'network' | 'secrets' | 'packages'
> {
  return {
    ...(runner === undefined ? {} : { runner }),
    ...(isolation === undefined ? {} : { isolation }),
    ...(files === undefined ? {} : { files }),
    ...(env === undefined ? {} : { env }),
    ...(limits === undefined ? {} : { limits }),
    ...(network === undefined ? {} : { network }),
    ...(secrets === undefined ? {} : { secrets }),
    ...(packages === undefined ? {} : { packages }),
  };
}
