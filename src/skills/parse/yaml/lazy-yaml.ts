import { createRequire } from 'node:module';
import type * as Yaml from 'yaml';
import { quickYaml } from './quick-yaml.ts';

// The runtime bundle replaces the next line: see docs/decisions/2026-11-22-lazy-modules.md.
const require = createRequire(import.meta.url);

let loaded: typeof Yaml | undefined;
let isQuick = false;

/** The YAML package. It is loaded at the first call, because most sandboxes verify skills and never parse them. */
export function yaml(): typeof Yaml {
  loaded ??= require('yaml') as typeof Yaml;
  return loaded;
}

/** Switches to a build that reads faster but takes longer to load, because many texts follow. Both builds accept each other's nodes. */
export function expectManyTexts(): void {
  if (isQuick) return;
  isQuick = true;
  loaded = quickYaml();
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
