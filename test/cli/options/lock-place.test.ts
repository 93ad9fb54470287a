import { userInfo } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { CommandContext } from '../../../src/cli/options/flags/command.ts';
import { lockPlace } from '../../../src/cli/options/skills/lock-place.ts';

it.each(['', '.', 'relative'])('--user is not the working folder if HOME is %j', (HOME) => {
  const flags = new Map([['user', []]]);
  const context = { arguments: { operands: [], flags }, io: { env: { HOME }, cwd: () => '/nowhere' } };
  const { lockFile } = lockPlace(context as unknown as CommandContext);
  expect(lockFile).toBe(join(userInfo().homedir, '.agents', 'skillcell.lock.json'));
});
