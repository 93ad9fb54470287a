import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { describeWith } from '../fixtures/describe-with.ts';

const folder = fileURLToPath(new URL('../../deploy', import.meta.url));
const units = readdirSync(folder).filter((name) => name.endsWith('.service'));
const missing = existsSync('/usr/bin/systemd-analyze') ? undefined : 'systemd';

describeWith('the units of deploy/', missing, () => {
  it.for(units)('%s is one that systemd takes', (name) => {
    const own = mkdtempSync(join(tmpdir(), 'units-'));
    try {
      // The program is looked for where an installation has it.
      const text = readFileSync(join(folder, name), 'utf8').replace('/usr/local/bin/skillcell', '/usr/bin/true');
      writeFileSync(join(own, name), text.replace('Requires=docker.service\n', ''));
      const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', join(own, name)], {
        encoding: 'utf8',
      });
      expect([status, stderr]).toEqual([0, '']);
    } finally {
      rmSync(own, { recursive: true });
    }
  });
});
