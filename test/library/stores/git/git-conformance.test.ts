import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { SkillTree } from '../../../../src/contracts/skills/skill.ts';
import { MISSING_GIT, MISSING_OPENSSL, skipOrFail } from '../../../fixtures/describe-with.ts';
import { serveGit } from '../../../fixtures/git-http-server.ts';
import { type GitScene, setUpGit } from '../../../fixtures/git-scene.ts';
import { startTcpProxy } from '../../../fixtures/tcp-proxy.ts';
import { describeStore, type OpenedScene } from '../conformance/store-conformance.ts';

/** Commits skills, and returns a function that changes them. */
function fill(scene: GitScene, trees: ReadonlyMap<string, SkillTree>): NonNullable<OpenedScene['change']> {
  const { repository } = scene;
  const put = (path: string, tree: SkillTree): void => {
    for (const [name, { bytes, executable }] of tree)
      repository.stage(executable ? '100755' : '100644', `${path}/${name}`, bytes);
  };
  for (const [path, tree] of trees) put(path, tree);
  repository.commit({});
  return async (path, tree) => {
    repository.git(['rm', '-r', '--quiet', '--cached', '--ignore-unmatch', '--', path]);
    if (tree !== null) put(path, tree);
    repository.commit({});
  };
}

if (MISSING_GIT === undefined) {
  describeStore('git', {
    can: ['change'],
    async open(trees) {
      const scene = setUpGit();
      const change = fill(scene, trees);
      return { store: scene.open(), change, close: async () => await scene.close() };
    },
  });
} else skipOrFail('stores conformance: git', MISSING_GIT);

const MISSING = MISSING_GIT ?? MISSING_OPENSSL;
if (MISSING === undefined) {
  describeStore('git over a network', {
    can: ['change', 'down', 'slow', 'cut'],
    async open(trees) {
      const scene = setUpGit();
      const change = fill(scene, trees);
      const server = await serveGit(scene.folder, join(scene.folder, 'tls'));
      const proxy = await startTcpProxy(server.port);
      const url = `https://git.test:${proxy.port}/repository`;
      let kept: string[] | undefined;
      return {
        store: scene.open({ url, caFile: server.caFile }),
        keepsListed: true,
        change,
        down: async () => await proxy.close(),
        async slow() {
          proxy.fault = { stallAfter: 2_000 };
        },
        async cut() {
          scene.repository.commit({ 'public/units/more.bin': randomBytes(1_000_000) });
          kept = readdirSync(join(scene.cacheFolder, 'git'));
          // The query for the branch succeeds, and half of the fetch.
          proxy.fault = { cutAfter: 500_000 };
        },
        async close() {
          // A broken fetch leaves nothing in the cache.
          if (kept !== undefined) {
            expect(proxy.met).toBe(1);
            expect(readdirSync(join(scene.cacheFolder, 'git'))).toEqual(kept);
          }
          await scene.close();
          await proxy.close();
          await server.close();
        },
      };
    },
  });
} else skipOrFail('stores conformance: git over a network', MISSING);
