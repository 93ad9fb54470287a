import * as z from 'zod/mini';
import { describe, expect, it } from 'vitest';
import { sandboxMessageSchema } from '../../src/protocol/message-schema.ts';

const call = { type: 'call', id: 1, target: 'tool', name: 'add', args: [1] };

/** The message as it is taken; undefined when it is refused. */
const taken = (message: object): unknown => z.safeParse(sandboxMessageSchema, message).data;

describe('a call of a sandbox', () => {
  it('is taken with and without arguments, and whatever they are', () => {
    const { args: _, ...without } = call;
    const more = [call, without, { ...call, args: null }, { ...call, target: 'model' }, { ...call, target: 'host' }];
    for (const message of more) expect(taken(message)).toEqual(message);
  });

  it.each([{}, Number.NaN, Infinity, 0, -1, 1.5, '1', null, undefined, 2 ** 53, [1]])(
    'E05 is refused with the id %j',
    (id) => expect(taken({ ...call, id })).toBeUndefined(),
  );

  it.each([
    ['a name that is no text', { name: 7 }],
    ['a name over 200 characters', { name: 'x'.repeat(201) }],
    ['another target', { target: 'shell' }],
    ['E06 the name of a job', { jobId: 'job-2' }],
    ['E06 the name of a tenant', { tenant: 'other' }],
  ])('is refused with %s', (_name, more) => {
    expect(taken({ ...call, ...more })).toBeUndefined();
  });
});
