import type { HeldSecret } from '../secrets/held-secret.ts';

/** Keys for AWS of a job on the host. Each part has a placeholder of its own; all have the name of the secret. */
export interface HeldAwsKeys {
  name: string;
  accessKeyId: HeldSecret;
  secretAccessKey: HeldSecret;
  /** Of temporary keys. */
  sessionToken?: HeldSecret;
}

/** The parts of keys as secrets that answers must not bring back, the id of the key as well: programs see one id in all places. */
export function partsOf({ accessKeyId, secretAccessKey, sessionToken }: HeldAwsKeys): HeldSecret[] {
  return [accessKeyId, secretAccessKey, ...(sessionToken === undefined ? [] : [sessionToken])];
}
