import type Docker from 'dockerode';
import { ensureRuntime, type RuntimeBundle } from '../../runtime-bundle.ts';
import { checkEngine, type EngineReport } from '../engine/check-engine.ts';
import type { EngineOptions } from '../engine/engine-options.ts';
import { abortable, callEngine, connectEngine } from '../engine/engine.ts';
import { findImage } from './image.ts';
import type { ImageFlavor } from '../image-flavor.ts';

/** What every start of a container needs to know of its engine. */
export interface EngineFacts {
  engine: Docker;
  image: string;
  report: EngineReport;
}

/** An engine that is examined once, by the first who asks. */
export interface PreparedEngine {
  /** Examines the engine, or waits for whoever does; what fails is tried again by the next. */
  facts(): Promise<EngineFacts>;
  /** Examines it again next time: its image may have been replaced, or another engine stands in its place. */
  forget(): void;
  /** Resolves with the engine's first answers, or where it has given them with a sign of life. */
  hear(limitMs: number): Promise<void>;
}

/**
 * Creates the facts of one engine; nothing is asked yet.
 *
 * @param options which engine, which image, and the bundle that the image must hold
 * @param signal ends what is asked
 */
export function createPreparedEngine(
  options: EngineOptions & { flavor?: ImageFlavor; bundle?: RuntimeBundle },
  signal: AbortSignal,
): PreparedEngine {
  let examined: Promise<EngineFacts> | undefined;

  const examine = async (): Promise<EngineFacts> => {
    const engine = await connectEngine(options);
    const report = await checkEngine(engine, signal);
    const bundle = options.bundle ?? (await ensureRuntime());
    const image = await findImage(engine, options.flavor ?? 'slim', bundle.digest, signal);
    return { engine, report, image };
  };
  const forget = (): void => {
    examined = undefined;
  };
  const facts = (): Promise<EngineFacts> => {
    examined ??= examine();
    // An engine may be started meanwhile.
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
