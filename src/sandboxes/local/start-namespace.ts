import { existsSync } from 'node:fs';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { RuntimeBundle } from '../runtime-bundle.ts';
import type { Sandbox, SandboxSpec } from '../runner.ts';
import { largestFileBytes } from '../sandbox-sizes.ts';
import { createControlGroup } from './control-group.ts';
import { unenforcedLimits } from './limit-enforcement.ts';
import { localSandbox } from './local-sandbox.ts';
import { namespaceCommand, namespaceExecutor } from './namespace-command.ts';
import { cachedRuntime } from './runtime-cache.ts';
import { startProcess } from './start-process.ts';

/** Advice if level namespace is missing. */
export const NAMESPACE_ADVICE =
  'Level namespace needs Linux with user namespaces, bubblewrap and util-linux: `apt-get install bubblewrap util-linux`.';

/** Starts a sandbox at level namespace: bubblewrap around the entry, and a second bubblewrap inside around user code. */
export async function startNamespace(spec: SandboxSpec, bundle: RuntimeBundle, name: string): Promise<Sandbox> {
  const bubblewrap = requirePrograms();
  const executor = namespaceExecutor(spec);
  const runtime = await cachedRuntime(bundle);
  const group = createControlGroup(name, spec.limits);
  try {
    const command = namespaceCommand({ bubblewrap, runtime, executor, spec, memoryGroup: group?.memoryFolder ?? null });
    const child = startProcess(command, { group, fileBytes: largestFileBytes(spec.limits), env: {} });
    return localSandbox({
      isolation: 'namespace',
      child,
      group,
      diagnostics: unenforcedLimits('namespace', group !== null),
      startFailure: (complaint) => (/\b(bwrap|setpriv|unshare)\b/.test(complaint) ? unmet(complaint) : undefined),
      cleanUp: () => Promise.resolve(),
    });
  } catch (error) {
    group?.remove();
    throw error;
  }
}

/** The path of bubblewrap. Throws if bubblewrap or another needed program is missing. */
export function requirePrograms(): string {
  if (process.platform !== 'linux') {
    throw unmet(`namespaces are a feature of Linux, got ${process.platform}`);
  }
  const bubblewrap = ['/usr/bin/bwrap', '/bin/bwrap', '/usr/local/bin/bwrap'].find((path) => existsSync(path));
  if (bubblewrap === undefined) throw unmet('bubblewrap (bwrap) is not installed');
  for (const program of ['/usr/bin/setpriv', '/usr/bin/prlimit']) {
    if (!existsSync(program)) throw unmet(`util-linux is incomplete, there is no ${program}`);
  }
  return bubblewrap;
}

function unmet(reason: string): SkillcellError {
  return new SkillcellError('runner.isolation-unmet', `Cannot start a sandbox at level namespace: ${reason}.`, {
    hint: NAMESPACE_ADVICE,
  });
}
