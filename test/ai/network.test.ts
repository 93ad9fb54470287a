import { generateText, isStepCount } from 'ai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createSandboxTools } from '../../src/ai/create-sandbox-tools.ts';
import { createSandboxSession } from '../../src/ai/sandbox-session/create-sandbox-session.ts';
import type { RunOutput, SandboxTools } from '../../src/ai/sandbox-tools.ts';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import type { Orchestrator } from '../../src/jobs/orchestrator.ts';
import { createLocalRunner } from '../../src/sandboxes/local/local-runner.ts';
import { startUpstream, type Upstream } from '../fixtures/egress/upstream.ts';
import { MISSING_PYTHON, requireHere } from '../fixtures/describe-with.ts';
import { requireLevel } from '../fixtures/levels.ts';
import { toolCallingModel } from '../fixtures/tool-calling-model.ts';

const VALUE = 'sk-0123456789abcdef';

let upstream: Upstream;
let orchestrator: Orchestrator;
let place: string;
beforeAll(async () => {
  upstream = await startUpstream();
  place = `api.test:${upstream.port}`;
  orchestrator = createOrchestrator({
    runners: [createLocalRunner()],
    network: { ...upstream.network([place]), secrets: { TOKEN: { value: VALUE, hosts: [place] } } },
  });
});
afterAll(async () => {
  await orchestrator.close();
  await upstream[Symbol.asyncDispose]();
});
beforeEach((context) => requireLevel(context, 'namespace'));

/** The output of a program that asks the allowed host and another one, and the description that the model had. */
async function runOnce(tools: SandboxTools): Promise<{ output: RunOutput; description: string }> {
  const code = `const headers = { authorization: process.env.TOKEN };
for (const url of ['https://${place}/a', 'https://nope.test/']) console.log((await fetch(url, { headers })).status);`;
  const model = toolCallingModel([{ calls: [['run_code', { code }]] }]);
  const { steps } = await generateText({ model, tools, stopWhen: isStepCount(2), prompt: 'Run it.' });
  const output = steps[0]?.toolResults[0]?.output as RunOutput;
  const described = model.doGenerateCalls[0]?.tools?.find(({ name }) => name === 'run_code');
  return { output, description: described?.type === 'function' ? (described.description ?? '') : '' };
}

describe('createSandboxTools() with a network', () => {
  it.each([false, true])('gives programs the network that run_code names; in one session: %s', async (session) => {
    const tools = createSandboxTools(orchestrator, { session, network: [place], secrets: ['TOKEN'] });
    try {
      const { output, description } = await runOnce(tools);
      expect(output.stdout).toBe('200\n403\n');
      expect(upstream.requests.at(-1)?.headers.authorization).toBe(VALUE);
      expect(description).toContain(
        `- The network is open to these places alone, over HTTP and HTTPS: \`https://${place}\`.\n- The environment variable \`TOKEN\` holds`,
      );
      expect(description).toContain('\n- Nothing can be installed.\n');
      expect(description).not.toContain('There is no network');
      expect(description).not.toContain(VALUE);
    } finally {
      await tools[Symbol.asyncDispose]();
    }
  });

  it('names the packages of programs in run_code', async () => {
    await using withPackages = createOrchestrator({
      runners: [createLocalRunner()],
      network: { ...upstream.network([]), packages: { npm: ['is-odd'] } },
    });
    const tools = createSandboxTools(withPackages, { packages: { npm: ['is-odd@3'] } });
    const model = toolCallingModel([]);
    await generateText({ model, tools, prompt: 'Run it.' });
    const described = model.doGenerateCalls[0]?.tools?.[0];
    expect(described).toMatchObject({
      description: expect.stringMatching(
        /package is there except those listed next\.\n- Packages of npm that are installed: is-odd@3\.\n- Nothing can be installed\.\n- There is no network\.\n/,
      ),
    });
  });

  it('refuses at once a network that the orchestrator does not have', () => {
    expect(() => createSandboxTools(orchestrator, { network: ['nope.test'] })).toThrow('is not in network.allow');
    expect(() => createSandboxTools(orchestrator, { network: [place], secrets: ['OTHER'] })).toThrow('no such secret');
    expect(() => createSandboxTools(orchestrator, { network: [place], isolation: 'none' })).toThrow('level none');
  });

  it('names the network of a given session, and takes none beside it', async () => {
    await using session = await orchestrator.session({ network: [place], secrets: ['TOKEN'] });
    const { output, description } = await runOnce(createSandboxTools(orchestrator, { session }));
    expect(output.stdout).toBe('200\n403\n');
    expect(description).toContain(`\`https://${place}\``);
    for (const [name, given] of Object.entries({ network: [place], secrets: ['TOKEN'] })) {
      expect(() => createSandboxTools(orchestrator, { session, [name]: given })).toThrow(
        `Cannot create tools of a sandbox: ${name} must be left out, because the given session has its own.`,
      );
    }
  });
});

describe('createSandboxSession() of a session with a network', () => {
  it('describes it, and its commands have it', async (context) => {
    requireHere(context, MISSING_PYTHON);
    await using session = await orchestrator.session({ network: [place], secrets: ['TOKEN'] });
    const sandbox = createSandboxSession(session);
    expect(sandbox.description).toContain(
      `go below $SKILLCELL_OUTPUT.\nThe network is open to these places alone, over HTTP and HTTPS: \`https://${place}\`.\n`,
    );
    expect(sandbox.description).toContain('\nNothing can be installed.\nMemory, processes ');
    const code = `import urllib.request; print(urllib.request.urlopen('https://${place}/b').status)`;
    const { exitCode, stdout } = await sandbox.run({ command: `python3 -c "${code}"` });
    expect([exitCode, stdout]).toEqual([0, '200\n']);
  });

  it('has the same description as ever without a network', async () => {
    await using session = await orchestrator.session();
    expect(createSandboxSession(session).description).toContain(
      '$SKILLCELL_OUTPUT.\nThere is no network, nothing can be installed, and memory, processes and the size of the workspace are limited.\nSeveral',
    );
  });
});
