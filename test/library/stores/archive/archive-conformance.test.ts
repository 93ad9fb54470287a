import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SkillTree } from '../../../../src/contracts/skills/skill.ts';
import { removeTree } from '../../../../src/durable/remove-tree.ts';
import { createArchiveStore } from '../../../../src/library/stores/archive/archive-store.ts';
import { openTreeCache } from '../../../../src/library/stores/cache/tree-cache.ts';
import { rawTarGz } from '../../../fixtures/archives/raw-tar.ts';
import { rawZip } from '../../../fixtures/archives/raw-zip.ts';
import { CUT, SLOW } from '../../../fixtures/outgoing/bad-answers.ts';
import { serveLocally } from '../../../fixtures/outgoing/local-server.ts';
import { describeStore, type StoreScene } from '../conformance/store-conformance.ts';

interface PackedFile {
  name: string;
  content: Uint8Array;
  mode: number;
  type?: string;
}

type Pack = (files: PackedFile[]) => Uint8Array;

/** An archive with all files of some trees. */
function packed(trees: ReadonlyMap<string, SkillTree>, pack: Pack): Uint8Array {
  const files = [...trees].flatMap(([place, tree]) =>
    [...tree].map(([name, { bytes, executable }]) => ({
      name: `${place}/${name}`,
      content: bytes,
      mode: executable ? 0o100_755 : 0o100_644,
    })),
  );
  // An archive without an entry is not valid.
  return pack([{ name: 'public/', content: Buffer.alloc(0), mode: 0o040_755, type: '5' }, ...files]);
}

function changeIn(trees: Map<string, SkillTree>, place: string, tree: SkillTree | null): void {
  if (tree === null) trees.delete(place);
  else trees.set(place, tree);
}

function sceneOf(file: string, pack: Pack): StoreScene {
  return {
    can: ['change', 'down'],
    async open(given) {
      const folder = mkdtempSync(join(tmpdir(), 'archive-conformance-'));
      const path = join(folder, file);
      const trees = new Map<string, SkillTree>(given);
      const write = (): void => writeFileSync(path, packed(trees, pack));
      write();
      return {
        store: createArchiveStore({ path, kind: 'user', cache: openTreeCache(join(folder, 'cache')) }),
        async change(place, tree) {
          changeIn(trees, place, tree);
          write();
        },
        down: async () => rmSync(path),
        close: async () => removeTree(folder),
      };
    },
  };
}

function servedScene(file: string, pack: Pack): StoreScene {
  return {
    can: ['change', 'down', 'slow', 'cut'],
    async open(given) {
      const folder = mkdtempSync(join(tmpdir(), 'archive-conformance-'));
      const trees = new Map<string, SkillTree>(given);
      let answer: RequestListener = (_, response) => void response.end(packed(trees, pack));
      const server = await serveLocally((request, response) => answer(request, response));
      const { port } = server;
      const store = createArchiveStore({
        url: `http://127.0.0.1:${port}/${file}`,
        kind: 'user',
        cache: openTreeCache(join(folder, 'cache')),
        allowPrivate: [`127.0.0.1:${port}`],
      });
      return {
        store,
        keepsListed: true,
        change: async (place, tree) => changeIn(trees, place, tree),
        down: async () => await server[Symbol.asyncDispose](),
        async slow() {
          answer = SLOW;
        },
        async cut() {
          answer = CUT;
        },
        async close() {
          await store.close();
          await server[Symbol.asyncDispose]();
          removeTree(folder);
        },
      };
    },
  };
}

const asTar: Pack = (files) => rawTarGz(files.map((file) => ({ ...file, mode: file.mode & 0o777 })));

describeStore('archive, ZIP', sceneOf('skills.zip', rawZip));
describeStore('archive, TAR', sceneOf('skills.tar.gz', asTar));
describeStore('archive behind an address', servedScene('skills.zip', rawZip));
