import { createRequire } from 'node:module';
import type * as Yaml from 'yaml';

// The runtime bundle replaces the next line: see docs/decisions/2026-11-22-lazy-modules.md.
const require = createRequire(import.meta.url);

let loaded: typeof Yaml | undefined;
let quick: (() => typeof Yaml) | undefined;

/** The YAML package. It is loaded at the first call, because most sandboxes verify skills and never parse them. */
export function yaml(): typeof Yaml {
  loaded ??= require('yaml') as typeof Yaml;
  return loaded;
}

/**
 * Offers a build of the package that reads faster but takes longer to load.
 *
 * @param load loads it
 */
export function offerQuickYaml(load: () => typeof Yaml): void {
  quick = load;
}

/** Switches to the offered build, because many texts follow. Both builds accept each other's nodes. */
export function expectManyTexts(): void {
  if (quick === undefined) return;
  loaded = quick();
  quick = undefined;
}

/** Whether a node is a scalar. */
export function isScalar<T = unknown>(node: unknown): node is Yaml.Scalar<T> {
  return yaml().isScalar(node);
}

/** Whether a node is a mapping. */
export function isMap<K = unknown, V = unknown>(node: unknown): node is Yaml.YAMLMap<K, V> {
  return yaml().isMap(node);
}

/** Whether a node is a sequence. */
export function isSeq<T = unknown>(node: unknown): node is Yaml.YAMLSeq<T> {
  return yaml().isSeq(node);
}
