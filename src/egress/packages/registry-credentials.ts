import { makePlaceholder } from '../secrets/make-placeholder.ts';
import type { RegistryCredentials, RegistryKind } from './package-registry.ts';
import { registryRule } from './package-registry.ts';

const LEAST_BYTES = 8;
const MOST_BYTES = 16 * 1024;

/**
 * The credentials of a registry, with all texts that its answers must not bring back.
 *
 * @param token the text behind the scheme
 * @param password of Basic, decoded
 * @returns undefined if answers cannot be searched for the token
 */
export function registryCredentials(
  kind: RegistryKind,
  scheme: 'Bearer' | 'Basic',
  token: string,
  password?: string,
): RegistryCredentials | undefined {
  if (!isHoldable(token) || /\s/.test(token)) return undefined;
  const values = [token, ...(password !== undefined && isHoldable(password) ? [password] : [])];
  const washed = values.map((value, index) => ({
    name: index === 0 ? registryRule(kind) : `${registryRule(kind)}:password`,
    value,
    placeholder: makePlaceholder(value, values),
    header: 'authorization',
  }));
  return { authorization: `${scheme} ${token}`, washed };
}

function isHoldable(value: string): boolean {
  const bytes = Buffer.byteLength(value);
  return bytes >= LEAST_BYTES && bytes <= MOST_BYTES && !/[\p{Cc}\p{Cs}]/u.test(value);
}
