import { expect, it } from 'vitest';
import { networkSettings } from '../../../src/jobs/network/network-settings.ts';

it.each(['http://api.test', 'GET api.test', 'api.test/v1/**'])('P21 a secret has no host such as %s', (host) => {
  const given = (hosts: string[]): unknown =>
    networkSettings({ allow: [], secrets: { TOKEN: { value: 'sk-0123456789', hosts } } });
  expect(() => given([host])).toThrow('must name hosts of https without methods and paths');
  expect(() => given(['api.test', '*.api.test:8443'])).not.toThrow();
});
