import { describe, expect, it } from 'vitest';
import type { LockedOrigin } from '../../../src/library/lock/format/lock-format.ts';
import { lockedSource } from '../../../src/library/sources/locked-source.ts';

const COMMIT = 'c'.repeat(40);
const REPOSITORY = 'https://git.example.com/a/b.git';

describe('lockedSource()', () => {
  it.each<[Partial<LockedOrigin>, 'commit' | 'ref', object]>([
    [{ type: 'git', source: REPOSITORY, commit: COMMIT, ref: 'v1' }, 'commit', { source: REPOSITORY, ref: COMMIT }],
    [{ type: 'git', source: REPOSITORY, commit: COMMIT, ref: 'v1' }, 'ref', { source: REPOSITORY, ref: 'v1' }],
    [{ type: 'git', source: REPOSITORY, commit: COMMIT }, 'ref', { source: REPOSITORY }],
    [{ type: 'git', source: REPOSITORY, ref: 'v1' }, 'commit', { source: REPOSITORY, ref: 'v1' }],
    [{ type: 'git', source: './repo', commit: COMMIT }, 'commit', { source: '/project/repo', ref: COMMIT }],
    [{ type: 'directory', source: '../house' }, 'commit', { source: '/house' }],
    [{ type: 'archive', source: 'https://example.com/a.zip' }, 'commit', { source: 'https://example.com/a.zip' }],
    [{ type: 'mcp', source: 'https://example.com/mcp' }, 'ref', { source: 'https://example.com/mcp' }],
  ])('finds the source of %j at its %s', (origin, at, expected) => {
    const locked = { folder: '.', ...origin } as LockedOrigin;
    expect(lockedSource(locked, '/project', at)).toEqual({ kind: origin.type, ...expected });
  });

  it.each<[Partial<LockedOrigin>, string]>([
    [{ type: 'builtin', source: 'skillcell' }, 'the package itself'],
    [{ type: 'archive', source: REPOSITORY }, 'locked with the type archive, but has the type git'],
    [{ type: 'git', source: 'http://git.example.com/a' }, 'only https'],
  ])('refuses %j', (origin, reason) => {
    expect(() => lockedSource({ folder: '.', ...origin } as LockedOrigin, '/project', 'commit')).toThrow(reason);
  });
});
