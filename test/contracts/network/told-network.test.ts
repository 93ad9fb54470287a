import { expect, test } from 'vitest';
import { sandboxSentences, type ToldNetwork } from '../../../src/contracts/network/told-network.ts';

const NONE: ToldNetwork = { allowed: [], secrets: [], registries: [], packages: { npm: [], pypi: [] } };

test.each<[string, Partial<ToldNetwork>, string[]]>([
  [
    'a registry beside a place',
    { allowed: ['https://a.test'], registries: ['npm'] },
    [
      'The network is open to these places alone, over HTTP and HTTPS: `https://a.test`, the registry of npm (`npm install`).',
      'A denied request is answered with an error status and the header `x-skillcell-denied`, which names the reason; trying it again does not help.',
      'Only packages whose names the host allows can be installed.',
    ],
  ],
  [
    'packages alone',
    { packages: { npm: ['is-odd@3'], pypi: ['tinypkg==1.0'] } },
    [
      'There is no network.',
      'Packages of npm that are installed: is-odd@3.',
      'Packages of Python that are installed: tinypkg==1.0.',
      'Nothing can be installed.',
    ],
  ],
])('a model is told of %s', (_what, network, sentences) => {
  expect(sandboxSentences({ ...NONE, ...network })).toEqual(sentences);
});
