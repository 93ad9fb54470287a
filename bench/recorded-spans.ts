import { AsyncLocalStorage } from 'node:async_hooks';
import { context, ROOT_CONTEXT, trace, type Context, type ContextManager } from '@opentelemetry/api';
import { BatchSpanProcessor, InMemorySpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';

const REGISTRY = Symbol.for('opentelemetry.js.api.1');

/** Records the spans of this process while it is on. */
export interface SpanRecorder {
  on(): void;
  off(): void;
  close(): Promise<void>;
}

/** A real provider with a batching processor and an in-memory exporter. It starts switched off. */
export function createSpanRecorder(): SpanRecorder {
  const processor = new BatchSpanProcessor({ exporter: new InMemorySpanExporter() });
  const provider = new TracerProvider({ spanProcessors: [processor] });
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(contextManager());
  const place = globalThis as { [REGISTRY]?: unknown };
  const registry = place[REGISTRY];
  const off = (): void => {
    delete place[REGISTRY];
  };
  off();
  return {
    on: () => {
      place[REGISTRY] = registry;
    },
    off,
    async close() {
      off();
      await provider.shutdown();
    },
  };
}

function contextManager(): ContextManager {
  const storage = new AsyncLocalStorage<Context>();
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active, fn, self, ...args) => storage.run(active, () => Reflect.apply(fn, self, args) as never),
    bind: (_active, target) => target,
    enable: () => manager,
    disable: () => manager,
  };
  return manager;
}
