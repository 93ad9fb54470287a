import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { SkillTree } from '../../../../src/contracts/skills/skill.ts';
import { removeTree } from '../../../../src/durable/remove-tree.ts';
import { openTreeCache } from '../../../../src/library/stores/cache/tree-cache.ts';
import { createWebStore } from '../../../../src/library/stores/web/web-store.ts';
import { serveLocally } from '../../../fixtures/outgoing/local-server.ts';
import { CUT, SLOW } from '../../../fixtures/outgoing/bad-answers.ts';
import { skillSite, tarOfTree } from '../../../fixtures/outgoing/skill-site.ts';
import { describeStore } from '../conformance/store-conformance.ts';

describeStore('web', {
  can: ['change', 'down', 'slow', 'cut'],
  async open(trees) {
    const folder = mkdtempSync(join(tmpdir(), 'skillcell-web-'));
    const site = skillSite();
    const change = async (path: string, tree: SkillTree | null): Promise<void> => {
      if (tree === null) site.retract(basename(path));
      else site.publish(basename(path), await tarOfTree(tree));
    };
    for (const [path, tree] of trees) await change(path, tree);
    let answer = site.listener;
    const server = await serveLocally((request, response) => answer(request, response));
    const cache = openTreeCache(join(folder, 'cache'));
    const store = createWebStore({
      url: `http://127.0.0.1:${server.port}`,
      kind: 'user',
      cache,
      allowPrivate: ['127.0.0.1'],
      ports: [server.port],
    });
    return {
      store,
      pathOf: (path) => basename(path),
      change,
      down: async () => await server[Symbol.asyncDispose](),
      async slow() {
        answer = SLOW;
      },
      async cut() {
        answer = CUT;
      },
      async close() {
        await store.close();
        cache.close();
        await server[Symbol.asyncDispose]();
        removeTree(folder);
      },
    };
  },
});
