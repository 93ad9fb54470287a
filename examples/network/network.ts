/** A job that reads one path of an API with a bearer that it never sees: `node examples/network/network.ts`. */
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import { startLocalHost } from './local-host.ts';

const bearer = 'sk-live-4f9a1c7e2b8d6035';
// The answers of this API repeat the header, as a careless API might.
await using api = await startLocalHost('api.example.com', ({ headers: { authorization } }, response) => {
  response.statusCode = authorization === `Bearer ${bearer}` ? 200 : 401;
  response.end(JSON.stringify({ orders: response.statusCode === 200 ? 3 : null, authorization }));
});

await using orchestrator = createOrchestrator({
  network: {
    allow: [`GET ${api.place}/v1/**`],
    secrets: { API_TOKEN: { value: bearer, hosts: [api.place] } },
    ...api.options,
  },
});

const code = `const headers = { authorization: 'Bearer ' + process.env.API_TOKEN };
for (const path of ['/v1/orders', '/admin']) {
  const answer = await fetch('https://${api.place}' + path, { headers });
  console.log(path, answer.status, (await answer.text()).trim());
}`;
const result = await orchestrator.exec({ code, network: [api.place], secrets: ['API_TOKEN'] });
console.log(result.stdout.text.trim());
console.log('sent:', result.network?.secrets, 'denied:', result.network?.denied.map(({ path, reason }) => `${path} ${reason}`));
console.log('the bearer is in the result:', JSON.stringify(result).includes(bearer));
