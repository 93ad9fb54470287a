import { hash } from 'node:crypto';
import { canonicalJson } from '../skills/text/canonical-json.ts';
import type { ModelRequest } from './model-gateway.ts';

/** 64 hex digits over the canonical JSON of a prompt, the same as the agent in a sandbox makes of its own. */
export function promptDigest({ system, messages }: Pick<ModelRequest, 'system' | 'messages'>): string {
  return hash('sha256', canonicalJson({ system, messages }));
}
