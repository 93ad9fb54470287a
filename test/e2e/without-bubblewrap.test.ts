import { describe, expect, it } from 'vitest';
import { withoutBubblewrap } from '../fixtures/without-bubblewrap.ts';

const EXEC = ['bin/skillcell.js', 'exec', '-', '--json'];
const NO_ENGINE = { DOCKER_HOST: 'unix:///nowhere/engine.sock' };

describe('on a machine without bubblewrap', () => {
  it('the hint fits the requested level, and never offers a weaker level to a caller who named one', async (context) => {
    const refused = async (...flags: string[]): Promise<{ code: string; hint: string }> => {
      const { code, stdout } = await withoutBubblewrap(context, [...EXEC, ...flags], NO_ENGINE);
      expect(code).toBe(3);
      return (JSON.parse(stdout) as { error: { code: string; hint: string } }).error;
    };
    const namespace = await refused('--isolation', 'namespace');
    expect(namespace.code).toBe('runner.isolation-unmet');
    expect(namespace.hint).toContain('apt-get install bubblewrap');
    expect(namespace.hint).not.toContain('--isolation none');
    const container = await refused('--isolation', 'container');
    expect(container.code).toBe('engine.unavailable');
    expect(container.hint).not.toMatch(/bubblewrap|isolation none/);
    const kernel = await refused('--isolation', 'kernel');
    expect(kernel.code).toBe('runner.isolation-unmet');
    expect(kernel.hint).toContain('SKILLCELL_KERNEL_RUNTIME');
    expect(kernel.hint).not.toMatch(/bubblewrap|isolation none/);
    const unnamed = await refused();
    expect(unnamed.code).toBe('runner.isolation-unmet');
    expect(unnamed.hint).toContain('apt-get install bubblewrap');
    expect(unnamed.hint).toContain('--isolation none');
  });

  it('doctor ends with 1, and with 0 if another level isolates', async (context) => {
    const doctor = ['bin/skillcell.js', 'doctor', '--json'];
    const { code, stdout } = await withoutBubblewrap(context, doctor, NO_ENGINE);
    expect(JSON.parse(stdout)).toMatchObject({ ready: false, best: null });
    expect(code).toBe(1);
  });
});
