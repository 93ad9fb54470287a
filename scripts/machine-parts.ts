import { accessSync, constants, globSync } from 'node:fs';
import { checkEngine } from '../src/sandboxes/docker/engine/check-engine.ts';
import { connectEngine } from '../src/sandboxes/docker/engine/engine.ts';

/** A part of the machine that some tests need. */
export interface MachinePart {
  /** Its name in a sentence. */
  name: string;
  /** The Debian package that provides it; null if no package does. */
  package: string | null;
  isHere(): Promise<boolean>;
}

/** A name that the groups of `test-outlook.ts` use. */
export type PartName =
  | 'engine'
  | 'bubblewrap'
  | 'python'
  | 'strace'
  | 'gvisor'
  | 'crun'
  | 'ceph'
  | 'postgres'
  | 'redis'
  | 'chromium'
  | 'root';

/** The parts that may be missing. */
export const MACHINE_PARTS: Readonly<Record<PartName, MachinePart>> = {
  engine: { name: 'a Docker engine', package: 'docker.io', isHere: engineAnswers },
  bubblewrap: program('bubblewrap', '/usr/bin/bwrap'),
  python: program('python3', '/usr/bin/python3'),
  strace: program('strace', '/usr/bin/strace'),
  gvisor: program('runsc', '/usr/bin/runsc'),
  crun: program('crun', '/usr/bin/crun'),
  ceph: { ...program('radosgw', '/usr/bin/radosgw'), name: 'Ceph' },
  postgres: {
    name: 'PostgreSQL',
    package: 'postgresql',
    isHere: async () => globSync('/usr/lib/postgresql/*/bin/initdb').length > 0,
  },
  redis: { ...program('redis-server', '/usr/bin/redis-server'), name: 'Redis' },
  chromium: { ...program('chromium', '/usr/bin/chromium'), name: 'Chromium' },
  root: { name: 'the rights of root', package: null, isHere: async () => process.getuid?.() === 0 },
};

/** A program whose Debian package has the same name. */
function program(name: string, path: string): MachinePart {
  return { name, package: name, isHere: async () => canRun(path) };
}

async function engineAnswers(): Promise<boolean> {
  try {
    await checkEngine(await connectEngine());
    return true;
  } catch {
    // Each skipped test names the reason.
    return false;
  }
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // The program is missing.
    return false;
  }
}
