import pino from 'pino';
import { expect, it } from 'vitest';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import type { Runner } from '../../../src/sandboxes/runner.ts';
import { createPlainRunner } from '../../fixtures/plain-runner.ts';

/** A runner whose sandboxes end, but report that they do not. */
function neverEnding(): Runner {
  const plain = createPlainRunner();
  return {
    ...plain,
    async start(spec, options) {
      const sandbox = await plain.start(spec, options);
      const kill = async (reason: string): Promise<void> => {
        await sandbox.kill(reason);
        throw new Error('it does not end');
      };
      return { ...sandbox, kill };
    },
  };
}

it.each([true, false])(
  'a sandbox that cannot be ended fails neither its job nor the close, with a log: %s',
  async (logs) => {
    let log = '';
    const logger = pino({ level: 'warn' }, { write: (line) => void (log += line) });
    const orchestrator = createOrchestrator({
      runners: [neverEnding()],
      allowUnisolated: true,
      ...(logs ? { logger } : {}),
    });
    const result = await orchestrator.exec({ language: 'javascript', code: 'export default 1' });
    expect(result).toMatchObject({ outcome: 'succeeded', value: 1 });
    await orchestrator.close();
    expect(log.includes('a sandbox could not be ended')).toBe(logs);
  },
);
