import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SkillTree } from '../../../src/contracts/skill.ts';
import { removeTree } from '../../../src/durable/remove-tree.ts';
import { createArchiveStore } from '../../../src/stores/archive/archive-store.ts';
import { openTreeCache } from '../../../src/stores/cache/tree-cache.ts';
import { rawTarGz } from '../../fixtures/archives/raw-tar.ts';
import { rawZip } from '../../fixtures/archives/raw-zip.ts';
import { describeStore, type StoreScene } from '../conformance/store-conformance.ts';

interface PackedFile {
  name: string;
  content: Uint8Array;
  mode: number;
  type?: string;
}

function sceneOf(file: string, pack: (files: PackedFile[]) => Uint8Array): StoreScene {
  return {
    async open(given) {
      const folder = mkdtempSync(join(tmpdir(), 'archive-conformance-'));
      const path = join(folder, file);
      const trees = new Map<string, SkillTree>(given);
      const write = (): void => {
        const files = [...trees].flatMap(([place, tree]) =>
          [...tree].map(([name, { bytes, executable }]) => ({
            name: `${place}/${name}`,
            content: bytes,
            mode: executable ? 0o100_755 : 0o100_644,
          })),
        );
        // An archive without an entry is none.
        const top = { name: 'public/', content: Buffer.alloc(0), mode: 0o040_755, type: '5' };
        writeFileSync(path, pack([top, ...files]));
      };
      write();
      return {
        store: createArchiveStore({ path, kind: 'user', cache: openTreeCache(join(folder, 'cache')) }),
        async change(place, tree) {
          if (tree === null) trees.delete(place);
          else trees.set(place, tree);
          write();
        },
        down: async () => rmSync(path),
        close: async () => removeTree(folder),
      };
    },
  };
}

describeStore('archive, ZIP', sceneOf('skills.zip', rawZip));
describeStore(
  'archive, TAR',
  sceneOf('skills.tar.gz', (files) => rawTarGz(files.map((file) => ({ ...file, mode: file.mode & 0o777 })))),
);
