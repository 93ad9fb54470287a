/** A job that reads one path of an API with a bearer that it never sees: `node examples/network/network.ts`. */
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import { startApiHost } from './api-host.ts';

const bearer = 'sk-live-4f9a1c7e2b8d6035';
await using host = await startApiHost(bearer);
const api = `api.example.com:${host.port}`;

await using orchestrator = createOrchestrator({
  network: {
    allow: [`GET ${api}/v1/**`],
    secrets: { API_TOKEN: { value: bearer, hosts: [api] } },
    // The API of this example is on this machine; yours needs none of these three.
    caFile: host.caFile,
    allowPrivate: ['127.0.0.1/32'],
    lookup: async () => [{ address: '127.0.0.1', family: 4 }],
  },
});

const code = `const headers = { authorization: 'Bearer ' + process.env.API_TOKEN };
for (const path of ['/v1/orders', '/admin']) {
  const answer = await fetch('https://${api}' + path, { headers });
  console.log(path, answer.status, (await answer.text()).trim());
}`;
const result = await orchestrator.exec({ code, network: [api], secrets: ['API_TOKEN'] });
console.log(result.stdout.text.trim());
console.log('sent:', result.network?.secrets, 'denied:', result.network?.denied.map(({ path, reason }) => `${path} ${reason}`));
console.log('the bearer is in the result:', JSON.stringify(result).includes(bearer));
