import { readFile } from 'node:fs/promises';
import type { NetworkSecret } from '../../contracts/network/network-options.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { quotedText } from '../../contracts/text/quoted-text.ts';
import { makePlaceholder } from '../../egress/secrets/make-placeholder.ts';
import type { JobSecret } from '../../egress/worker/worker-messages.ts';
import type { SecretSettings } from './network-settings.ts';

const LEAST_BYTES = 8;
const MOST_BYTES = 16 * 1024;

/**
 * Reads the values of a job's secrets, and makes a placeholder for each.
 *
 * @throws SkillcellError `secret.unavailable`; its message has no value
 */
export async function secretValues(
  secrets: ReadonlyMap<string, SecretSettings>,
): Promise<(JobSecret & { variable: string })[]> {
  const made: (JobSecret & { variable: string })[] = [];
  for (const [name, { source, hosts, header, variable }] of secrets) {
    const value = await readValue(name, source);
    const others = made.flatMap((other) => [other.value, other.placeholder]);
    made.push({ name, value, placeholder: makePlaceholder(value, others), header, hosts, variable });
  }
  return made;
}

async function readValue(name: string, source: NetworkSecret): Promise<string> {
  let value: unknown;
  try {
    value = await valueOf(source);
  } catch {
    // An error of a file or of a caller's function may hold the value.
    throw unavailable(name, 'its value cannot be read');
  }
  if (typeof value !== 'string' || value === '') throw unavailable(name, 'it has no value');
  const bytes = Buffer.byteLength(value);
  if (bytes < LEAST_BYTES) throw unavailable(name, `its value has fewer than ${LEAST_BYTES} bytes`);
  if (bytes > MOST_BYTES) throw unavailable(name, `its value has more than ${MOST_BYTES} bytes`);
  if (/[\p{Cc}\p{Cs}]/u.test(value)) throw unavailable(name, 'its value has a control character');
  return value;
}

async function valueOf(source: NetworkSecret): Promise<unknown> {
  if ('value' in source) return source.value;
  if ('env' in source) return process.env[source.env];
  // Editors and `echo` end a file with a line end, which is no part of the value.
  if ('file' in source) return (await readFile(source.file, 'utf8')).replace(/\r?\n$/, '');
  return await source.get();
}

function unavailable(name: string, reason: string): SkillcellError {
  return new SkillcellError('secret.unavailable', `Cannot use the secret ${quotedText(name)}: ${reason}.`);
}
