import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, type TestContext } from 'vitest';
import { DEFAULT_LIMITS } from '../../src/contracts/jobs/limits.ts';
import { ISOLATION_LEVELS, type Isolation } from '../../src/contracts/jobs/result.ts';
import { NO_USAGE } from '../../src/contracts/jobs/usage.ts';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import { SkillcellError } from '../../src/contracts/errors/skillcell-error.ts';
import { currentOwner, ownerName } from '../../src/durable/owner.ts';
import { createChannel, type Channel } from '../../src/protocol/channel/channel.ts';
import {
  RUNNER_CONTRACT,
  type Runner,
  type RunnerReport,
  type Sandbox,
  type SandboxSpec,
} from '../../src/sandboxes/runner.ts';
import { until } from '../fixtures/until.ts';
import { MISSING_PYTHON, requireHere } from '../fixtures/describe-with.ts';
import { skillLibrary, skillText } from '../fixtures/skill-library.ts';
import { describeScripts } from './runner-scripts.ts';

/** A runner under test, at one of its levels. */
export interface RunnerCase {
  name: string;
  isolation: Isolation;
  create(): Runner;
  /** Ends the process that holds a sandbox from outside, like an accident; `undefined` if this is not possible here. */
  breakSandbox?(sandbox: Sandbox): Promise<void>;
  /** Names of the leftovers of this process's sandboxes on the host: processes, folders, groups, containers. */
  leftovers(): Promise<string[]>;
}

const TOOLSET = `import { z } from 'zod';
import { Tool } from '@agent/tools';
export const Tools = [Tool.define('twice', { description: 'D.', parameters: z.object({ of: z.number() }), execute: async ({ of }) => of * 2 })];
`;
const PYTHON_TOOLSET = 'def thrice(of: int):\n    return of * 3\n\n\ntools = [thrice]\n';

/**
 * The contract of every runner, at one level. A level that this machine cannot start skips its tests with the runner's own reason. A level that it
 * can start must keep the whole contract.
 */
export function describeRunner({ name, isolation, create, breakSandbox, leftovers }: RunnerCase): void {
  const { memoryMib, cpus, pids, workspaceMib, workspaceInodes } = DEFAULT_LIMITS;
  const spec: SandboxSpec = {
    isolation,
    language: 'javascript',
    limits: { memoryMib, cpus, pids, workspaceMib, workspaceInodes },
  };
  const never = new AbortController().signal;

  describeScripts({ name, isolation, create });
  describe(`the runner contract: ${name} at level ${isolation}`, () => {
    let report: RunnerReport | undefined;
    let runner: Runner;
    let before: string[];

    beforeAll(async () => {
      await using probed = create();
      const reports = await probed.probe();
      report = reports.find((row) => row.isolation === isolation);
    });
    beforeEach(async () => {
      before = await leftovers();
      runner = create();
    });
    afterEach(async () => {
      await runner.close();
      await until(async () => (await newLeftovers()).length === 0, 'the end of all leftovers');
    });
    afterAll(async () => {
      await runner?.close();
    });

    const newLeftovers = async (): Promise<string[]> => {
      const old = new Set(before);
      return (await leftovers()).filter((row) => !old.has(row));
    };

    function requireAvailable(context: TestContext): void {
      expect(report, 'the probe has a row for this level').toBeDefined();
      requireHere(
        context,
        report?.available === true ? undefined : `${name} at level ${isolation}: ${report?.reasons.join('; ')}`,
      );
    }

    /** Starts a sandbox and waits for the first message of its entry. */
    async function startReady(): Promise<{ sandbox: Sandbox; channel: Channel; messages: unknown[] }> {
      const sandbox = await runner.start(spec, { signal: never });
      const messages: unknown[] = [];
      const channel = createChannel(sandbox.channel, {
        onMessage: (message) => void messages.push(message),
        onClose: () => undefined,
      });
      await until(() => messages.length > 0, 'the entry to be ready');
      return { sandbox, channel, messages };
    }

    it('names itself and the version of the contract', () => {
      expect(runner.contract).toBe(RUNNER_CONTRACT);
      expect(name).toContain(runner.name);
    });

    it('probe() reports each level, why one is missing, and how each limit is enforced', async () => {
      const reports = await runner.probe();
      expect(reports.length).toBeGreaterThan(0);
      const levels = reports.map((row) => ISOLATION_LEVELS.indexOf(row.isolation));
      expect(levels, 'strongest level first').toEqual(levels.toSorted((a, b) => b - a));
      for (const row of reports) {
        expect(row.runner).toBe(runner.name);
        if (!row.available) expect(row.reasons.join('')).not.toBe('');
        expect(Object.keys(row.limits).toSorted()).toEqual(['cpus', 'inodes', 'memory', 'pids', 'workspace']);
        for (const how of Object.values(row.limits)) expect(['kernel', 'watched', 'none']).toContain(how);
      }
    });

    it('starts a sandbox that sends the first message, at the requested level', async (context) => {
      requireAvailable(context);
      const { sandbox, messages } = await startReady();
      expect(sandbox.isolation).toBe(isolation);
      expect(sandbox.runner).toBe(runner.name);
      expect(messages).toEqual([{ type: 'ready', protocol: expect.any(Number) as number }]);
      const weaker = Object.values(report?.limits ?? {}).filter((how) => how !== 'kernel');
      expect(sandbox.diagnostics).toHaveLength(weaker.length);
      await sandbox.kill('the test is over');
    });

    it('kill() ends a sandbox, is idempotent, and reports that it was killed', async (context) => {
      requireAvailable(context);
      const { sandbox } = await startReady();
      expect((await newLeftovers()).length).toBeGreaterThan(0);
      await Promise.all([sandbox.kill('once'), sandbox.kill('twice')]);
      await sandbox.kill('afterwards');
      const exit = await sandbox.exited;
      expect(exit.cause).toBe('killed');
      expect([false, null]).toContain(exit.oom);
      expect(await newLeftovers()).toEqual([]);
      expect(sandbox.channel.destroyed).toBe(true);
    });

    it('a sandbox ends by itself when its channel ends', async (context) => {
      requireAvailable(context);
      const { sandbox, channel } = await startReady();
      channel.close();
      const exit = await sandbox.exited;
      expect(exit.cause).toBe('exit');
      expect(exit.code).toBe(0);
      await until(async () => (await newLeftovers()).length === 0, 'the removal of the leftovers');
    });

    it('an accident to the sandbox ends its channel and is not reported as its own exit', async (context) => {
      requireAvailable(context);
      context.skip(breakSandbox === undefined, `${name} has no part that could be ended from outside`);
      const { sandbox } = await startReady();
      await breakSandbox?.(sandbox);
      const exit = await sandbox.exited;
      expect(['exit', 'lost']).toContain(exit.cause);
      expect(exit.code).not.toBe(0);
      await until(() => sandbox.channel.destroyed, 'the end of the channel');
      await sandbox.kill('afterwards');
    });

    it('usage() returns numbers or null, and keeps them after the end', async (context) => {
      requireAvailable(context);
      const { sandbox } = await startReady();
      const { usage = () => NO_USAGE } = sandbox;
      const during = (await usage()) ?? NO_USAGE;
      expect(Object.keys(during).toSorted()).toEqual(['cpuMs', 'maxRssBytes', 'oomKills', 'pidsRefused']);
      for (const number of Object.values(during)) expect(number === null || number >= 0).toBe(true);
      await sandbox.kill('the test is over');
      const after = (await usage()) ?? NO_USAGE;
      if (during.cpuMs !== null) expect(after.cpuMs).toBeGreaterThanOrEqual(during.cpuMs);
      expect(after.oomKills).toBe(during.oomKills);
    });

    it('an abort before the start starts no sandbox, and an abort during it leaves nothing behind', async (context) => {
      requireAvailable(context);
      const reason = new Error('not wanted');
      await expect(runner.start(spec, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
      const abort = new AbortController();
      const starting = runner.start(spec, { signal: abort.signal });
      abort.abort(reason);
      await expect(starting).rejects.toBe(reason);
      await until(async () => (await newLeftovers()).length === 0, 'the end of all leftovers');
    });

    it('refuses every level that it does not have, and never starts another level', async () => {
      const own = new Set((await runner.probe()).map((row) => row.isolation));
      for (const level of ISOLATION_LEVELS.filter((row) => !own.has(row))) {
        const error: unknown = await runner
          .start({ ...spec, isolation: level }, { signal: never })
          .catch((thrown: unknown) => thrown);
        expect(error, level).toBeInstanceOf(SkillcellError);
        expect((error as SkillcellError).code).toBe('runner.isolation-unmet');
      }
      expect(own.size).toBeGreaterThan(0);
    });

    it('close() ends running sandboxes, is idempotent, and refuses later starts', async (context) => {
      requireAvailable(context);
      const { sandbox } = await startReady();
      const second = runner.start(spec, { signal: never });
      // The second start may have succeeded or been refused. Either way it must leave nothing behind.
      second.catch(() => undefined);
      await Promise.all([runner.close(), runner.close()]);
      expect((await sandbox.exited).cause).toBe('killed');
      await second.catch(() => undefined);
      await expect(runner.start(spec, { signal: never })).rejects.toBeInstanceOf(SkillcellError);
      await until(async () => (await newLeftovers()).length === 0, 'the end of all leftovers');
      await runner[Symbol.asyncDispose]();
    });

    it('runs the code of a skill, each language in its own sandbox beside the job\u2019s', async (context) => {
      requireAvailable(context);
      requireHere(context, MISSING_PYTHON);
      using library = skillLibrary({
        'tools/SKILL.md': skillText(
          { name: 'tools', description: 'T.', toolsets: ['index:Tools', 'more:tools'] },
          'Body.',
        ),
        'tools/index.ts': TOOLSET,
        'tools/more.py': PYTHON_TOOLSET,
      });
      await using orchestrator = createOrchestrator({
        runners: [runner],
        skills: library.subsystem,
        sweepIntervalMs: 0,
      });
      const result = await orchestrator.exec({
        isolation,
        skills: { refs: ['custom.tools'] },
        tools: ['twice', 'thrice'],
        language: 'python',
        code: `from skillcell import tools, set_value, ToolCallError
values = [tools.twice(of=4), tools.thrice(of=4)]
try:
    tools.twice(of="x")
except ToolCallError as error:
    values.append(error.code)
set_value(values)`,
      });
      expect(result.stderr.text).toBe('');
      expect(result).toMatchObject({ isolation, value: [8, 12, 'tool.invalid-arguments'] });
    });

    it('sweep() leaves the sandboxes of a living owner alone', async (context) => {
      requireAvailable(context);
      const { sandbox } = await startReady();
      const { failed } = await runner.sweep();
      // The sweep also takes leftovers of other tests' hosts, which may still be ending.
      expect(failed.filter(({ name }) => name.includes(ownerName(currentOwner())))).toEqual([]);
      let ended = false;
      void sandbox.exited.then(() => (ended = true));
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(ended).toBe(false);
      await sandbox.kill('the test is over');
    });

    it('ten sandboxes at once are ten, isolated from one another', async (context) => {
      requireAvailable(context);
      const sandboxes = await Promise.all(Array.from({ length: 10 }, () => startReady()));
      expect(new Set(sandboxes.map(({ sandbox }) => sandbox.channel)).size).toBe(10);
      await sandboxes[0]?.sandbox.kill('the first one only');
      let others = 0;
      for (const { sandbox } of sandboxes.slice(1)) void sandbox.exited.then(() => (others += 1));
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(others).toBe(0);
      await Promise.all(sandboxes.map(({ sandbox }) => sandbox.kill('the test is over')));
    });
  });
}
