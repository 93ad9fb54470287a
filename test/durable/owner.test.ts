import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { currentOwner, isDead, ownerName, parseOwnerName } from '../../src/durable/owner.ts';
import { until } from '../fixtures/until.ts';

describe('the owner of a sandbox', () => {
  it('is read back from the beginning of a name', () => {
    const owner = currentOwner();
    expect(parseOwnerName(`${ownerName(owner)}-abcdef-and more`)).toEqual(owner);
    expect(ownerName(owner)).toMatch(/^[0-9a-f]{12}-\d+-\d+-\d+$/);
    for (const name of ['', 'someone', '0123456789ab-1-2', '0123456789AB-1-2-3', '../0123456789ab-1-2-3']) {
      expect(parseOwnerName(name), name).toBeUndefined();
    }
  });

  it('is alive while its process runs with the same start time', () => {
    const owner = currentOwner();
    expect(isDead(owner)).toBe(false);
    expect(isDead({ ...owner, startTime: '1' })).toBe(true);
    expect(isDead({ ...owner, pid: 2 ** 22 - 1 })).toBe(true);
  });

  it('M44 is dead if it has another boot, and counts as alive if it has another process namespace', () => {
    const owner = currentOwner();
    expect(isDead({ ...owner, boot: '000000000000' })).toBe(true);
    expect(isDead({ ...owner, pidNamespace: '1', startTime: '1' })).toBe(false);
    expect(isDead({ ...owner, pidNamespace: '1', boot: '000000000000' })).toBe(true);
  });

  it('is dead while its process is a zombie', async () => {
    // The inner process becomes a zombie: the shell is replaced by a program that never waits for it.
    const child = spawn('/bin/sh', ['-c', 'sleep 0.1 & echo $!; exec sleep 60']);
    try {
      const [line] = (await once(child.stdout, 'data')) as [Buffer];
      const owner = { ...currentOwner(), pid: Number(String(line)) };
      let stat = '';
      await until(() => {
        stat = readFileSync(`/proc/${owner.pid}/stat`, 'latin1');
        return stat.includes(') Z ');
      }, 'a zombie');
      const startTime = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
      expect(isDead({ ...owner, startTime })).toBe(true);
    } finally {
      child.kill('SIGKILL');
    }
  });
});
