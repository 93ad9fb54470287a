import { afterAll, beforeAll, expect, it } from 'vitest';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import type { Orchestrator } from '../../../src/jobs/orchestrator.ts';
import { createLocalRunner } from '../../../src/sandboxes/local/local-runner.ts';
import { MISSING_PERL, MISSING_PYTHON, requireHere } from '../../fixtures/describe-with.ts';
import { requireLevel } from '../../fixtures/levels.ts';

let orchestrator: Orchestrator;
beforeAll(() => {
  orchestrator = createOrchestrator({
    runners: [createLocalRunner()],
    pool: { size: 1, languages: ['javascript', 'python'] },
  });
});
afterAll(() => orchestrator.close());

/**
 * Prints its own process id, the number of processes, and the hour of a moment in its time zone. A replaced interpreter is killed while the
 * new one starts, so on a busy machine its end may be seen a moment later.
 */
const PROGRAMS = {
  javascript: `import { readdirSync } from 'node:fs';
    const count = () => readdirSync('/proc').filter((name) => /^[0-9]/.test(name)).length;
    for (const end = Date.now() + 5_000; count() > 3 && Date.now() < end;);
    console.log(JSON.stringify([process.pid, count(), new Date(0).getHours()]));`,
  python: `import json, os, time
def count():
    return sum(name.isdigit() for name in os.listdir('/proc'))
end = time.monotonic() + 5
while count() > 3 and time.monotonic() < end:
    pass
print(json.dumps([os.getpid(), count(), time.localtime(0).tm_hour]))`,
};

it.for(['javascript', 'python'] as const)(
  'a start-up variable replaces the waiting interpreter of %s in its own namespace',
  async (language, context) => {
    requireLevel(context, 'namespace');
    requireHere(context, MISSING_PERL ?? MISSING_PYTHON);
    const run = async (given: { env: Record<string, string>; fileName?: string }): Promise<unknown> => {
      await orchestrator.warm();
      const result = await orchestrator.exec({ language, code: PROGRAMS[language], ...given });
      expect(result).toMatchObject({ outcome: 'succeeded', usage: { warm: true } });
      return JSON.parse(result.stdout.text);
    };
    // bubblewrap and perl have the ids 1 and 2 in a new namespace, and the first interpreter has 3.
    expect(await run({ env: { FOO: '1' } })).toEqual([3, 3, 0]);
    const later = expect.toSatisfy((pid: number) => pid > 3);
    expect(await run({ env: { TZ: 'Asia/Tokyo' } })).toEqual([later, 3, 9]);
    // Python needs the name of its program when it starts.
    const named = { env: {}, fileName: language === 'python' ? 'other.py' : 'other.mjs' };
    expect(await run(named)).toEqual([language === 'python' ? later : 3, 3, 0]);
  },
);
