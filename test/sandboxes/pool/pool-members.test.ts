import { expect, test } from 'vitest';
import { createPoolMembers } from '../../../src/sandboxes/pool/pool-members.ts';

test('createPoolMembers() asks a member only once at a time, for any number of callers', async () => {
  const members = createPoolMembers<string>();
  members.add('member');
  const order: string[] = [];
  const asks = ['a', 'b', 'c'].map((name) =>
    members.ask(
      'member',
      async () => {
        order.push(`${name} begins`);
        await new Promise((resolve) => setTimeout(resolve, 5));
        order.push(`${name} ends`);
      },
      () => undefined,
    ),
  );
  await Promise.all(asks);
  expect(order).toEqual(['a', 'b', 'c'].flatMap((name) => [`${name} begins`, `${name} ends`]));
});
