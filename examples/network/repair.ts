/**
 * A codegen job that repairs its program after a denial: `node examples/network/repair.ts`. A local stand-in replaces the model's service.
 */
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import { createModelGateway } from '../../src/models/gateways/create-model-gateway.ts';
import { startStandIn } from '../ai-sdk/stand-in.ts';
import { startLocalHost } from './local-host.ts';

await using api = await startLocalHost('api.example.com', (_request, response) => {
  response.end(JSON.stringify([{ customer: 'Ada Meyer' }, { customer: 'Ben Okafor' }]));
});

const programFor = (path: string): string => `\`\`\`javascript
const answer = await fetch('https://${api.place}${path}');
if (!answer.ok) throw new Error(\`The API answered \${answer.status}.\`);
console.log('orders:', (await answer.json()).length);
\`\`\``;
await using service = await startStandIn([
  () => programFor('/v2/orders'),
  ({ messages }) => {
    console.log('the model reads:', messages.at(-1)?.content.match(/^denied .*/m)?.[0]);
    return programFor('/v1/orders');
  },
]);

await using orchestrator = createOrchestrator({
  model: createModelGateway({ provider: 'openai-compatible', model: 'stand-in', baseUrl: service.baseURL }),
  network: { allow: [`GET ${api.place}/v1/**`], ...api.options },
});
const result = await orchestrator.codegen({ task: 'How many orders are open?', network: [api.place] });
console.log('attempts:', result.codegen?.attempts.map(({ outcome }) => outcome));
console.log(result.stdout.text.trim());
