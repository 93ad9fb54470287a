import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { isGone } from '../../../src/sandboxes/docker/engine/engine.ts';
import { requireHere } from '../../fixtures/describe-with.ts';

const MODULE = fileURLToPath(new URL('../../../src/sandboxes/docker/engine/engine.ts', import.meta.url));
const answered = (statusCode?: number): Error => Object.assign(new Error('refused'), { statusCode });

it.each([
  [404, true],
  [409, true],
  [400, false],
  [500, false],
  [undefined, false],
])('isGone() of the status %j is %j, also in a cause', (status, gone) => {
  expect(isGone(answered(status))).toBe(gone);
  expect(isGone(new Error('Cannot remove it.', { cause: answered(status) }))).toBe(gone);
});

describe('hasEngine() without the default socket', () => {
  const cases: [string, boolean, object, Record<string, string>][] = [
    ['nothing', false, {}, {}],
    ['the option', true, { host: 'tcp://engine.invalid' }, {}],
    ['DOCKER_HOST', true, {}, { DOCKER_HOST: 'tcp://engine.invalid' }],
    ['a Docker context', true, {}, { DOCKER_CONTEXT: 'far' }],
    ['the context of the default socket', false, {}, { DOCKER_CONTEXT: 'default' }],
  ];
  it.for(cases)('with %s is %j', ([, expected, options, env], context) => {
    requireHere(context, process.getuid?.() === 0 ? undefined : 'uid 0, to hide the default socket');
    const program = `
      import { hasEngine } from ${JSON.stringify(MODULE)};
      console.log(hasEngine(${JSON.stringify(options)}));`;
    const hide = 'mount -t tmpfs tmpfs /run && exec "$0" --input-type=module-typescript -e "$1"';
    const run = spawnSync('unshare', ['--mount', '/bin/sh', '-c', hide, process.execPath, program], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: '/nowhere', ...env },
    });
    expect(run.stdout.trim(), run.stderr).toBe(`${expected}`);
  });
});
