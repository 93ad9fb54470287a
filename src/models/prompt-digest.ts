import { hash } from 'node:crypto';
import { canonicalJson } from '../skills/text/canonical-json.ts';
import type { ModelRequest } from './model-gateway.ts';

/** 64 hex digits over the canonical JSON of a prompt. The agent in a sandbox computes the same digest. */
export function promptDigest({ system, messages }: Pick<ModelRequest, 'system' | 'messages'>): string {
  return hash('sha256', canonicalJson({ system, messages }));
}
