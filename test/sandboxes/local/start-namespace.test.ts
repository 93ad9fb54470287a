import { expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../../src/contracts/jobs/limits.ts';
import { controlGroupLayout, listControlGroups } from '../../../src/sandboxes/local/control-group.ts';
import { startNamespace } from '../../../src/sandboxes/local/start-namespace.ts';
import { ensureRuntime } from '../../../src/sandboxes/runtime-bundle.ts';
import { requireHere } from '../../fixtures/describe-with.ts';
import { requireLevel } from '../../fixtures/levels.ts';

it('a start that throws leaves no control group', async (context) => {
  requireLevel(context, 'namespace');
  requireHere(context, controlGroupLayout() === null ? 'a control group of its own (uid 0)' : undefined);
  const seen: string[][] = [];
  const name = `test-${process.pid}-thrown`;
  const workspaceInodes = {
    toString() {
      seen.push(listControlGroups());
      throw new Error('no such number');
    },
  };
  const limits = { ...DEFAULT_LIMITS, workspaceInodes: workspaceInodes as never };
  const start = startNamespace({ isolation: 'namespace', language: 'bash', limits }, await ensureRuntime(), name);
  await expect(start).rejects.toThrow('no such number');
  expect(seen[0]).toContain(name);
  expect(listControlGroups()).not.toContain(name);
});
