import { randomBytes } from 'node:crypto';
import { packSkill } from '../src/archives/pack-skill.ts';
import { workOnArchive } from '../src/registry/skills/archive-work.ts';
import { type Measurement, timedRow } from './measurement.ts';
import { SYSTEMS, type ServePart } from './serve-scene.ts';
import { takeTurns } from './take-turns.ts';

const ROUNDS = 5;
/** Files of the skill beside SKILL.md. A folder is an entry as well, and an archive has at most 500. */
const FILES = 495;
const FILE_BYTES = 20_000;
const CHECK = 'check';

/** An upload of 10 MiB that is stored, against its check in a worker alone. */
export const serveUpload: ServePart = {
  ids: SYSTEMS.map((system) => `serve.upload10m.${system}`),
  async rows(scene, options) {
    const archive = await packed();
    options.progress(`an archive of ${archive.length} bytes`);
    const rows: Measurement[] = [];
    for (const system of SYSTEMS) {
      const id = `serve.upload10m.${system}`;
      if (!options.wants(id)) continue;
      const service = await scene.service(system);
      let uploads = 0;
      const subjects = [
        {
          id: CHECK,
          async sample() {
            const started = performance.now();
            await workOnArchive({ type: 'check', bytes: archive, file: 'large.zip', name: 'large', isPublic: false });
            return performance.now() - started;
          },
        },
        {
          id,
          async sample() {
            const body = new FormData();
            body.set('file', new Blob([new Uint8Array(archive)]), 'large.zip');
            body.set('name', `large-${(uploads += 1)}`);
            const started = performance.now();
            const { status } = await service.fetch('/skills/upload', { method: 'POST', body });
            if (status !== 201) throw new Error(`Cannot measure ${id}: the answer is ${status}.`);
            return performance.now() - started;
          },
        },
      ];
      const values = await takeTurns(subjects, options.samples ?? ROUNDS, options.progress);
      rows.push(timedRow(values, { id, goal: 'ratio ≤ 1.5', baseline: CHECK }));
    }
    return rows;
  },
};

async function packed(): Promise<Uint8Array> {
  const skill = Buffer.from('---\nname: large\ndescription: Many files.\n---\nRead them.\n');
  const tree = new Map([['SKILL.md', { bytes: skill, executable: false }]]);
  // Text, which a scan reads; a third of its bits are noise, so that it stays large.
  for (let at = 0; at < FILES; at += 1) {
    tree.set(`data-${at}.txt`, { bytes: Buffer.from(randomBytes(FILE_BYTES).toString('base64')), executable: false });
  }
  const { archive } = await packSkill('large', tree, { store: false });
  return archive;
}
