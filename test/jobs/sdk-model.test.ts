import { createAnthropic } from '@ai-sdk/anthropic';
import { expect, it } from 'vitest';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import { startModelStandIn } from '../fixtures/model-stand-in.ts';

const KEY = 'sk-ant-secret-of-the-host';

it('accepts a model of the AI SDK; the provider and its key stay on the host', async () => {
  const code = 'import { env } from "node:process"; export default JSON.stringify(env);';
  await using service = await startModelStandIn([`\`\`\`js\n${code}\n\`\`\``]);
  const anthropic = createAnthropic({ baseURL: service.baseUrl, apiKey: KEY });
  await using orchestrator = createOrchestrator({ model: anthropic('claude-test') });
  const result = await orchestrator.codegen({ isolation: 'none', task: 'Print the environment.' });
  expect(result).toMatchObject({
    outcome: 'succeeded',
    codegen: { attempts: [{ model: 'anthropic/claude-test', outcome: 'succeeded' }] },
  });
  expect(service.requests).toHaveLength(1);
  expect(service.requests[0]).toMatchObject({ model: 'claude-test', headers: { 'x-api-key': KEY } });
  expect(JSON.stringify(result)).not.toContain(KEY);
});

it('refuses a model other than the configured one', async () => {
  await using service = await startModelStandIn([]);
  const anthropic = createAnthropic({ baseURL: service.baseUrl, apiKey: KEY });
  await using orchestrator = createOrchestrator({ model: anthropic('claude-test') });
  const refused = orchestrator.codegen({ isolation: 'none', task: 'Say it.', model: 'openai/other' });
  await expect(refused).rejects.toMatchObject({ code: 'model.not-configured' });
  expect(service.requests).toEqual([]);
});
