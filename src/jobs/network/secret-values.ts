import { readFile } from 'node:fs/promises';
import type { AwsKeys, SecretValue } from '../../contracts/network/network-options.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { quotedText } from '../../contracts/text/quoted-text.ts';
import { makePlaceholder } from '../../egress/secrets/make-placeholder.ts';
import type { HeldSecret } from '../../egress/secrets/held-secret.ts';
import { partsOf } from '../../egress/signatures/held-aws-keys.ts';
import { makeAccessKeyId } from '../../egress/signatures/make-access-key-id.ts';
import type { JobAwsKeys, JobSecret } from '../../egress/worker/worker-messages.ts';
import { AWS_VARIABLES } from './aws-variables.ts';
import type { AwsSettings, SecretSettings } from './network-settings.ts';

/** The secrets of a job with their values, and the placeholders that its programs get as environment variables. */
export interface JobSecrets {
  secrets: JobSecret[];
  awsKeys: JobAwsKeys[];
  variables: Record<string, string>;
}

const PARTS = Object.keys(AWS_VARIABLES) as (keyof AwsKeys)[];
/** Characters of the parts of keys: two stand in headers, where a comma or a slash ends an id. */
const FORMS: Readonly<Record<keyof AwsKeys, RegExp>> = {
  accessKeyId: /^[!-+\-.0-~]+$/,
  secretAccessKey: /^./,
  sessionToken: /^[!-~]+$/,
};
const LEAST_BYTES = 8;
const MOST_BYTES = 16 * 1024;

/**
 * Reads the values of a job's secrets, and makes a placeholder for each.
 *
 * @throws SkillcellError `secret.unavailable`; its message has no value
 */
export async function secretValues(secrets: ReadonlyMap<string, SecretSettings>): Promise<JobSecrets> {
  const made: JobSecrets = { secrets: [], awsKeys: [], variables: {} };
  for (const [name, settings] of secrets) {
    const held = [...made.secrets, ...made.awsKeys.flatMap(partsOf)];
    const taken = held.flatMap(({ value, placeholder }) => [value, placeholder]);
    if ('aws' in settings) {
      const keys = await keysOf(name, settings, taken);
      made.awsKeys.push(keys);
      for (const part of PARTS)
        if (keys[part] !== undefined) made.variables[AWS_VARIABLES[part]] = keys[part].placeholder;
    } else {
      const { source, hosts, header, variable } = settings;
      const value = await readValue(name, source);
      const placeholder = makePlaceholder(value, taken);
      made.secrets.push({ name, value, placeholder, header, hosts });
      made.variables[variable] = placeholder;
    }
  }
  return made;
}

async function keysOf(name: string, { aws, hosts }: AwsSettings, taken: readonly string[]): Promise<JobAwsKeys> {
  const read = async (part: keyof AwsKeys, source: SecretValue | string): Promise<string> => {
    const value = await readValue(name, typeof source === 'string' ? { value: source } : source, `its ${part}`);
    if (!FORMS[part].test(value)) throw unavailable(name, `its ${part} has a character that none has`);
    return value;
  };
  const id = await read('accessKeyId', aws.accessKeyId);
  const secret = await read('secretAccessKey', aws.secretAccessKey);
  const token = aws.sessionToken === undefined ? undefined : await read('sessionToken', aws.sessionToken);
  const others = [...taken, id, secret, ...(token === undefined ? [] : [token])];
  const hold = (value: string, header: string, make: typeof makePlaceholder): HeldSecret => {
    const placeholder = make(value, others);
    others.push(placeholder);
    return { name, value, placeholder, header };
  };
  return {
    ...{ name, hosts },
    accessKeyId: hold(id, 'authorization', makeAccessKeyId),
    // It goes into this header as a signature.
    secretAccessKey: hold(secret, 'authorization', makePlaceholder),
    ...(token === undefined ? {} : { sessionToken: hold(token, 'x-amz-security-token', makePlaceholder) }),
  };
}

async function readValue(name: string, source: SecretValue, what = 'its value'): Promise<string> {
  let value: unknown;
  try {
    value = await valueOf(source);
  } catch {
    // An error of a file or of a caller's function may hold the value.
    throw unavailable(name, `${what} cannot be read`);
  }
  if (typeof value !== 'string' || value === '') throw unavailable(name, `${what} is missing or empty`);
  const bytes = Buffer.byteLength(value);
  if (bytes < LEAST_BYTES) throw unavailable(name, `${what} has fewer than ${LEAST_BYTES} bytes`);
  if (bytes > MOST_BYTES) throw unavailable(name, `${what} has more than ${MOST_BYTES} bytes`);
  if (/[\p{Cc}\p{Cs}]/u.test(value)) throw unavailable(name, `${what} has a control character`);
  return value;
}

async function valueOf(source: SecretValue): Promise<unknown> {
  if ('value' in source) return source.value;
  if ('env' in source) return process.env[source.env];
  // Editors and `echo` end a file with a line end, which is no part of the value.
  if ('file' in source) return (await readFile(source.file, 'utf8')).replace(/\r?\n$/, '');
  return await source.get();
}

function unavailable(name: string, reason: string): SkillcellError {
  return new SkillcellError('secret.unavailable', `Cannot use the secret ${quotedText(name)}: ${reason}.`);
}
