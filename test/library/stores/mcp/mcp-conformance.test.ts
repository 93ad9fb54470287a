import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { SkillTree } from '../../../../src/contracts/skills/skill.ts';
import { removeTree } from '../../../../src/durable/remove-tree.ts';
import { openTreeCache } from '../../../../src/library/stores/cache/tree-cache.ts';
import { createMcpStore } from '../../../../src/library/stores/mcp/mcp-store.ts';
import { CUT, SLOW } from '../../../fixtures/outgoing/bad-answers.ts';
import { serveLocally } from '../../../fixtures/outgoing/local-server.ts';
import { officialServer } from '../../../fixtures/outgoing/skill-server.ts';
import { describeStore } from '../conformance/store-conformance.ts';

describeStore('mcp', {
  can: ['change', 'down', 'slow', 'cut'],
  async open(trees) {
    const folder = mkdtempSync(join(tmpdir(), 'skillcell-mcp-store-'));
    const official = await officialServer({});
    const put = (path: string, tree: SkillTree | null): void => {
      const root = `${basename(path)}/`;
      for (const name of Object.keys(official.files)) if (name.startsWith(root)) delete official.files[name];
      for (const [name, { bytes }] of tree ?? []) official.files[`${root}${name}`] = bytes;
    };
    for (const [path, tree] of trees) put(path, tree);
    await official.reload();
    let answer = official.listener;
    const server = await serveLocally((request, response) => answer(request, response));
    const cache = openTreeCache(join(folder, 'cache'));
    const store = createMcpStore({
      url: `http://127.0.0.1:${server.port}/mcp`,
      kind: 'user',
      cache,
      allowPrivate: ['127.0.0.1'],
      ports: [server.port],
    });
    return {
      store,
      pathOf: (path) => basename(path),
      lacks: ['executable'],
      listsFrontmatter: true,
      async change(path, tree) {
        put(path, tree);
        await official.reload();
      },
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
