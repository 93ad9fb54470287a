import { expect, it } from 'vitest';
import { followSandbox } from '../../../src/sandboxes/fleet/fleet-sandbox.ts';
import { createLeaseEnd } from '../../../src/sandboxes/fleet/link/lease-end.ts';
import type { Lease } from '../../../src/sandboxes/fleet/link/lease-table.ts';

it('a sandbox that is lost before it is ready ends its start, and not the process', async () => {
  const { channel } = createLeaseEnd({
    send: () => undefined,
    onControl: () => undefined,
    onFault: () => undefined,
  });
  const { calls, opened } = followSandbox(
    () => ({ channel, peer: 'one', forget: () => undefined }) as unknown as Lease,
    'namespace',
  );
  const closed = new Promise((resolve) => channel.once('close', resolve));
  calls.onLost('it was silent');
  await expect(opened).rejects.toMatchObject({ code: 'sandbox.lost', message: expect.stringContaining('worker one') });
  await closed;
});
