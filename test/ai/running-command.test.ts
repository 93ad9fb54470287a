import { expect, it } from 'vitest';
import type { GuestLink } from '../../src/ai/sandbox-session/guest-link.ts';
import { startCommand } from '../../src/ai/sandbox-session/running-command.ts';
import { SkillcellError } from '../../src/contracts/errors/skillcell-error.ts';

// With a real session it is luck whether news is requested while all places are taken.
it('startCommand() does not take a full session for the end of a command', async () => {
  const busy = new SkillcellError('session.busy', 'Cannot run the code: 16 runs of the session wait already.');
  const answers = [busy, { exit: { code: 3, signal: null }, stdoutBytes: 2, isOver: { stdout: true, stderr: true } }];
  const link = {
    nextId: () => 1,
    async ask(operation: string) {
      if (operation === 'start') return { said: { pid: 5 }, bytes: Buffer.alloc(0) };
      const said = answers.shift();
      if (said instanceof Error) throw said;
      return { said, bytes: Buffer.from('ok') };
    },
  } as GuestLink;
  const taken: string[] = [];
  const reader = {
    room: () => 10,
    take: (bytes: Uint8Array) => void taken.push(Buffer.from(bytes).toString()),
    end: () => void taken.push('end'),
    fail: (error: unknown) => void taken.push(String(error)),
  };
  const silent = { ...reader, take: () => undefined, end: () => undefined };
  const command = await startCommand(link, { command: 'true', stdin: false }, { stdout: reader, stderr: silent });
  expect(await command.exited).toBe(3);
  expect(taken).toEqual(['ok', 'end']);
});
