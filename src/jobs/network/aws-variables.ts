import type { AwsKeys } from '../../contracts/network/network-options.ts';

/** Environment variables in which clients of AWS look for the parts of keys. */
export const AWS_VARIABLES: Readonly<Record<keyof AwsKeys, string>> = {
  accessKeyId: 'AWS_ACCESS_KEY_ID',
  secretAccessKey: 'AWS_SECRET_ACCESS_KEY',
  sessionToken: 'AWS_SESSION_TOKEN',
};
