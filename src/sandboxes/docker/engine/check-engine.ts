import type Docker from 'dockerode';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { abortable, callEngine, CALL_MS } from './engine.ts';

/** Version and abilities of an engine. */
export interface EngineReport {
  version: string;
  runcVersion: string | undefined;
  cgroupVersion: string;
  appArmor: boolean;
  rootless: boolean;
  runtimes: string[];
  /** Release of the kernel that its containers share. */
  kernel: string;
  processors: number;
}

/**
 * Reads the abilities of the engine, and refuses an engine that cannot enforce the container limits: there is no weaker mode.
 *
 * @throws SkillcellError `engine.unavailable`, `runner.isolation-unmet`
 */
export async function checkEngine(engine: Docker, signal?: AbortSignal): Promise<EngineReport> {
  const info = await askEngine(engine, signal);
  if (info.OSType !== 'linux') throw unmet(`it runs ${info.OSType ?? 'an unknown system'}, not Linux`);
  const options = info.SecurityOptions ?? [];
  const has = (name: string): boolean => options.some((option) => option.startsWith(`name=${name}`));
  if (!has('seccomp')) throw unmet('it has no seccomp');
  if (info.MemoryLimit === false) throw unmet('it cannot limit memory');
  if (info.PidsLimit === false) throw unmet('it cannot limit processes');
  if (info.CpuCfsQuota === false) throw unmet('it cannot limit processors');
  return {
    version: info.ServerVersion ?? 'unknown',
    runcVersion: info.RuncCommit?.ID,
    cgroupVersion: info.CgroupVersion ?? '1',
    appArmor: has('apparmor'),
    rootless: has('rootless'),
    runtimes: Object.keys(info.Runtimes ?? {}),
    kernel: info.KernelVersion ?? '',
    processors: info.NCPU ?? Number.POSITIVE_INFINITY,
  };
}

/** A server that refuses the info call is not a usable engine, so `engine.failed` becomes `engine.unavailable`. */
async function askEngine(engine: Docker, signal: AbortSignal | undefined): Promise<EngineInfo> {
  try {
    const ask = (abortSignal: AbortSignal): Promise<unknown> => abortable(engine).info({ abortSignal });
    return (await callEngine('ask the engine', ask, CALL_MS, signal)) as EngineInfo;
  } catch (error) {
    if (!SkillcellError.isInstance(error) || error.code !== 'engine.failed') throw error;
    throw new SkillcellError('engine.unavailable', error.message, { cause: error });
  }
}

/** The used fields of the engine's info call; older engines lack some. */
interface EngineInfo {
  OSType?: string;
  SecurityOptions?: string[] | null;
  MemoryLimit?: boolean;
  PidsLimit?: boolean;
  CpuCfsQuota?: boolean;
  ServerVersion?: string;
  KernelVersion?: string;
  NCPU?: number;
  RuncCommit?: { ID?: string };
  CgroupVersion?: string;
  Runtimes?: Record<string, unknown> | null;
}

function unmet(reason: string): SkillcellError {
  return new SkillcellError('runner.isolation-unmet', `Cannot use the Docker engine: ${reason}.`, {
    hint: 'Use an engine on Linux with seccomp and control groups; a rootless engine needs control groups version 2 with delegated controllers.',
  });
}
