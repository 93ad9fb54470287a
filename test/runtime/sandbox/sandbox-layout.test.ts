import { expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../../src/contracts/jobs/limits.ts';
import { readLayout } from '../../../runtime/sandbox/sandbox-layout.ts';

it('readLayout() puts all folders of a sandbox below its root, and fills in defaults', () => {
  expect(readLayout(['--level=container', 'no option', '--Other=1'])).toMatchObject({
    level: 'container',
    workspace: '/workspace',
    output: '/workspace/out',
    skills: '/skills',
    value: '/value',
    marker: '',
    memoryMib: DEFAULT_LIMITS.memoryMib,
    memoryGroup: undefined,
    watchWorkspace: false,
  });
});

it('readLayout() accepts given values, line breaks included', () => {
  const said = ['--level=none', '--root=/a\nb', '--marker=m=1', '--memory-mib=300', '--memory-group=/group'];
  expect(readLayout(said)).toMatchObject({
    level: 'none',
    workspace: '/a\nb/workspace',
    marker: 'm=1',
    memoryMib: 300,
    memoryGroup: '/group',
    watchWorkspace: true,
  });
  expect(readLayout(['--level=namespace', '--memory-group='])).toMatchObject({
    level: 'namespace',
    memoryGroup: undefined,
    watchWorkspace: false,
  });
});

it.each([[[]], [['--level=other']], [['level=none']], [['x--level=none']]])('readLayout() refuses %j', (args) => {
  expect(() => readLayout(args)).toThrow('--level is missing');
});
