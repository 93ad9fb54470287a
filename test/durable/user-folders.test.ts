import { userInfo } from 'node:os';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { configFolder, defaultCacheFolder, homeFolder } from '../../src/durable/user-folders.ts';
import { SkillcellError } from '../../src/contracts/errors/skillcell-error.ts';

const NO_HOMES = ['', '.', 'relative', './relative', '~'];

afterEach(() => vi.unstubAllEnvs());

describe('homeFolder()', () => {
  it('takes an absolute HOME', () => {
    expect(homeFolder({ HOME: '/somewhere' }, () => '/listed')).toBe('/somewhere');
  });

  it.each(NO_HOMES)('takes the home from the user list if HOME is %j', (HOME) => {
    vi.stubEnv('HOME', HOME);
    expect(homeFolder({ HOME })).toBe(userInfo().homedir);
    expect(homeFolder({})).toBe(userInfo().homedir);
    expect(homeFolder({ HOME }, () => '/listed')).toBe('/listed');
  });

  it.each(['', 'relative'])('refuses the home %j in the user list', (listed) => {
    let caught: unknown;
    try {
      homeFolder({ HOME: '' }, () => listed);
    } catch (error) {
      caught = error;
    }
    expect(SkillcellError.isInstance(caught) && caught).toMatchObject({
      code: 'path.unusable',
      message: expect.stringContaining('HOME is not an absolute path, and the system lists no home, got ""') as string,
    });
  });
});

describe('configFolder() and defaultCacheFolder()', () => {
  it('take absolute variables', () => {
    const env = { XDG_CONFIG_HOME: '/c', XDG_CACHE_HOME: '/k', HOME: '' };
    expect([configFolder(env), defaultCacheFolder(env)]).toEqual(['/c/skillcell', '/k/skillcell']);
  });

  it.each(NO_HOMES)('ignore %j, by the XDG standard', (value) => {
    const env = { XDG_CONFIG_HOME: value, XDG_CACHE_HOME: value, HOME: '/home/a' };
    expect([configFolder(env), defaultCacheFolder(env)]).toEqual([
      '/home/a/.config/skillcell',
      '/home/a/.cache/skillcell',
    ]);
  });
});
