import { Readable } from 'node:stream';
import Client from 'dockerode';
import { describe, expect, it } from 'vitest';
import { followProgress } from '../../../src/sandboxes/docker/build/follow-progress.ts';

const engine = new Client({ socketPath: '/nowhere/engine.sock' });
const linesOf = (events: readonly object[]): Readable =>
  Readable.from(events.map((event) => Buffer.from(`${JSON.stringify(event)}\n`)));

describe('followProgress()', () => {
  it('reports the steps of a transfer without its byte counters, and resolves to the last status', async () => {
    const said: string[] = [];
    const events = [
      { stream: 'Step 1\r\nStep 2\n \n' },
      { status: 'Pulling', id: 'layer' },
      { status: 'Downloading', id: 'layer', progressDetail: { total: 5 } },
      { status: 'Waiting', id: 'layer', progressDetail: {} },
      { aux: { ID: 'sha256:1' } },
      { status: ' sha256:1 ' },
    ];
    expect(await followProgress(engine, linesOf(events), (line) => said.push(line))).toBe(' sha256:1 ');
    expect(said).toEqual(['Step 1', 'Step 2', 'layer: Pulling', 'layer: Waiting', 'sha256:1']);
  });

  it('fails with the first error of the engine, though the stream ends well', async () => {
    const events = [{ error: 'no space left\n' }, { error: 'later' }, { status: 'done' }];
    await expect(followProgress(engine, linesOf(events), () => undefined)).rejects.toMatchObject({
      code: 'image.build-failed',
      message: 'Cannot build the image: no space left.',
    });
  });

  it('fails with the error of the stream', async () => {
    const broken = new Readable({ read: () => undefined });
    const following = followProgress(engine, broken, () => undefined);
    const cause = new Error('reset');
    broken.destroy(cause);
    await expect(following).rejects.toMatchObject({ message: 'Cannot build the image: reset.', cause });
  });

  it('ends a silent stream', async () => {
    const silent = new Readable({ read: () => undefined });
    await expect(followProgress(engine, silent, () => undefined, 20)).rejects.toMatchObject({
      message: 'Cannot build the image: the engine said nothing for 0.02 s.',
    });
    expect(silent.destroyed).toBe(true);
  });
});
