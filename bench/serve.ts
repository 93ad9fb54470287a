import type { BenchmarkGroup } from './benchmark-group.ts';
import type { Measurement } from './measurement.ts';
import { serveClaims } from './serve-claims.ts';
import { serveConsole } from './serve-console.ts';
import { serveEvents } from './serve-events.ts';
import { serveJobs } from './serve-jobs.ts';
import { serveLists } from './serve-lists.ts';
import { serveScene } from './serve-scene.ts';
import { serveStart } from './serve-start.ts';
import { serveUpload } from './serve-upload.ts';

const PARTS = [serveJobs, serveLists, serveClaims, serveEvents, serveUpload, serveStart, serveConsole];

/** The service, against the least that could do the same. */
export const serve: BenchmarkGroup = {
  ids: PARTS.flatMap(({ ids }) => ids),
  async run(options) {
    const rows: Measurement[] = [];
    for (const part of PARTS) {
      if (!part.ids.some(options.wants)) continue;
      await using scene = serveScene();
      rows.push(...(await part.rows(scene, options)));
    }
    return rows;
  },
};
