import type { SandboxMessage, SandboxResult } from '../../src/protocol/messages/messages.ts';
import { writeTar, type TarFile } from '../../src/protocol/files/tar.ts';
import { collectArtifacts, type Collection } from '../files/collect-artifacts.ts';
import type { JobSurroundings } from './job-surroundings.ts';
import { ownUsage } from '../sandbox/own-usage.ts';
import { type RunOutcome, toldOutcome } from './run-outcome.ts';

/** Sends the artifacts, then the result. */
export async function sendOutputs(
  around: JobSurroundings,
  outcome: RunOutcome,
  more: Partial<SandboxResult>,
): Promise<void> {
  const { channel, layout, globals } = around;
  const collection: Collection = { omitted: [], overLimit: false };
  const found = collectArtifacts(layout.output, globals.JOB.limits, collection);
  const next = (): IteratorResult<TarFile> => around.privileges.asUser(() => found.next());
  const first = next();
  if (first.done !== true) {
    const writer = channel.openStream();
    channel.sendEvent({ type: 'artifacts', stream: writer.number } satisfies SandboxMessage);
    await writeTar(following(first.value, next), writer);
  }
  const result: SandboxResult = {
    ...toldOutcome(outcome),
    omitted: collection.omitted,
    sources: globals.SOURCES_POOL,
    ...(layout.level === 'container' ? { usage: ownUsage() } : {}),
    ...more,
    diagnostics: [...around.found, ...(more.diagnostics ?? outcome.diagnostics)],
  };
  if (collection.overLimit && result.outcome === 'succeeded') {
    result.outcome = 'limit';
    result.limit = 'artifacts';
  }
  channel.sendLast({ type: 'result', result } satisfies SandboxMessage);
}

function* following<T>(first: T, next: () => IteratorResult<T>): Generator<T> {
  yield first;
  for (let step = next(); step.done !== true; step = next()) yield step.value;
}
