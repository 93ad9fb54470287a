import type Docker from 'dockerode';
import { ensureRuntime, type RuntimeBundle } from '../../runtime-bundle.ts';
import { checkEngine, type EngineReport } from '../engine/check-engine.ts';
import type { EngineOptions } from '../engine/engine-options.ts';
import { abortable, callEngine, connectEngine } from '../engine/engine.ts';
import { findImage } from './image.ts';
import type { ImageFlavor } from '../image-flavor.ts';

/** Facts about the engine that every start of a container needs. */
export interface EngineFacts {
  engine: Docker;
  image: string;
  report: EngineReport;
}

/** An engine that is examined once, at the first call. */
export interface PreparedEngine {
  /** Examines the engine, or joins an examination under way. After a failure, the next call tries again. */
  facts(): Promise<EngineFacts>;
  /** Makes the next call examine the engine again: its image, or the engine itself, may have been replaced. */
  forget(): void;
  /** Resolves when the engine answers: to its examination, or to a ping if it has been examined. */
  hear(limitMs: number): Promise<void>;
}

/**
 * Creates a prepared engine without any request yet.
 *
 * @param options the engine, the image, and the bundle that the image must hold
 * @param signal aborts the requests
 */
export function createPreparedEngine(
  options: EngineOptions & { flavor?: ImageFlavor; bundle?: RuntimeBundle },
  signal: AbortSignal,
): PreparedEngine {
  let examined: Promise<EngineFacts> | undefined;

  const examine = async (): Promise<EngineFacts> => {
    const [engine, bundle] = await Promise.all([connectEngine(options), options.bundle ?? ensureRuntime()]);
    const checked = checkEngine(engine, signal);
    const image = findImage(engine, options.flavor ?? 'slim', bundle.digest, signal);
    // A fault of the engine is reported before a fault of its image.
    image.catch(() => undefined);
    return { engine, report: await checked, image: await image };
  };
  const forget = (): void => {
    examined = undefined;
  };
  const facts = (): Promise<EngineFacts> => {
    examined ??= examine();
    // A stopped engine may be started later.
    examined.catch(forget);
    return examined;
  };

  return {
    facts,
    forget,
    async hear(limitMs) {
      const known = examined !== undefined;
      const { engine } = await facts();
      if (!known) return;
      const ping = (abortSignal: AbortSignal): Promise<unknown> => abortable(engine).ping({ abortSignal });
      await callEngine('ask the engine', ping, limitMs, signal);
    },
  };
}
