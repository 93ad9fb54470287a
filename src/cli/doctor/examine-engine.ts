import { quotedText } from '../../contracts/text/quoted-text.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { checkEngine, type EngineReport } from '../../sandboxes/docker/engine/check-engine.ts';
import { abortable, callEngine, connectEngine } from '../../sandboxes/docker/engine/engine.ts';
import { activeContext } from '../../sandboxes/docker/engine/docker-context.ts';
import { findImage } from '../../sandboxes/docker/build/image.ts';
import { ensureRuntime } from '../../sandboxes/runtime-bundle.ts';
import type { CliIo } from '../terminal/cli-io.ts';
import type { MachineCheck } from './machine-check.ts';

/** The oldest runc without known ways out of a container (CVE-2024-21626, CVE-2025-31133 and its siblings). */
const SAFE_RUNC = [1, 2, 8];

/** Looks at the Docker engine, its known holes, and the image of the sandboxes. */
export async function examineEngine({ env }: Pick<CliIo, 'env'>): Promise<MachineCheck[]> {
  const host = env['DOCKER_HOST'];
  try {
    const engine = await connectEngine(host === undefined || host === '' ? {} : { host });
    const report = await checkEngine(engine);
    const version = await callEngine('ask for versions', (abortSignal) => abortable(engine).version({ abortSignal }));
    const { Components } = version as { Components?: { Name: string; Version: string }[] };
    const runc = Components?.find(({ Name }) => Name === 'runc')?.Version;
    const context = host ? undefined : activeContext(process.env);
    return [engineCheck(report, context), runcCheck(runc), await imageCheck(() => findReadyImage(engine))];
  } catch (error) {
    return [{ id: 'docker', ok: false, needed: false, found: (error as Error).message, advice: adviceOf(error) }];
  }
}

function engineCheck(
  { version, cgroupVersion, appArmor, rootless, runtimes }: EngineReport,
  context: string | undefined,
): MachineCheck {
  const words = [
    `engine ${version}`,
    ...(context === undefined ? [] : [`Docker context ${quotedText(context)}`]),
    `control groups version ${cgroupVersion}`,
    appArmor ? 'AppArmor' : 'no AppArmor',
    ...(rootless ? ['rootless'] : []),
    `runtimes ${runtimes.toSorted().join(', ')}`,
  ];
  return { id: 'docker', ok: true, needed: false, found: words.join(' · ') };
}

function runcCheck(version: string | undefined): MachineCheck {
  const numbers = /^(\d+)\.(\d+)\.(\d+)/
    .exec(version ?? '')
    ?.slice(1)
    .map(Number);
  if (numbers === undefined) return { id: 'runc', ok: true, needed: false, found: version ?? 'unknown version' };
  if (!isOlder(numbers, SAFE_RUNC)) return { id: 'runc', ok: true, needed: false, found: version ?? '' };
  const advice = 'Older than 1.2.8: known ways out of a container (CVE-2024-21626, CVE-2025-31133). Update the engine.';
  return { id: 'runc', ok: false, needed: false, found: version ?? '', advice };
}

function isOlder(numbers: readonly number[], than: readonly number[]): boolean {
  for (const [index, least] of than.entries()) {
    const number = numbers[index] ?? 0;
    if (number !== least) return number < least;
  }
  return false;
}

async function findReadyImage(engine: Parameters<typeof findImage>[0]): Promise<string> {
  const { digest } = await ensureRuntime();
  return await findImage(engine, 'slim', digest);
}

async function imageCheck(find: () => Promise<string>): Promise<MachineCheck> {
  try {
    return { id: 'image', ok: true, needed: false, found: await find() };
  } catch (error) {
    return { id: 'image', ok: false, needed: false, found: (error as Error).message, advice: adviceOf(error) };
  }
}

function adviceOf(error: unknown): string {
  return SkillcellError.isInstance(error) ? error.hint : 'Start the Docker engine.';
}
