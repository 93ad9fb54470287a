/**
 * A job that writes, reads and deletes an object of your S3 bucket, with keys that it never sees: `node examples/network/s3.ts`, with
 * `S3_ENDPOINT` (`https://s3.eu-west-3.amazonaws.com`), `S3_BUCKET`, `AWS_REGION`, `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`.
 */
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import { startLocalHost } from './local-host.ts';

const { S3_ENDPOINT, S3_BUCKET, AWS_REGION = 'us-east-1', AWS_SECRET_ACCESS_KEY = '' } = process.env;
if (S3_ENDPOINT === undefined || S3_BUCKET === undefined) throw new Error('Set S3_ENDPOINT and S3_BUCKET.');
const endpoint = new URL(S3_ENDPOINT);
// Requests with keys leave over TLS only. A store with plain HTTP, as on your own machine, gets a host with TLS in front of it.
await using front = endpoint.protocol === 'http:' ? await startLocalHost('s3.example.com', passOn) : undefined;
const place = front?.place ?? endpoint.host;

await using orchestrator = createOrchestrator({
  network: {
    allow: [`GET,PUT,DELETE ${place}/${S3_BUCKET}/skillcell-example.txt`],
    secrets: {
      BUCKET: {
        aws: { accessKeyId: { env: 'AWS_ACCESS_KEY_ID' }, secretAccessKey: { env: 'AWS_SECRET_ACCESS_KEY' } },
        hosts: [place],
      },
    },
    ...front?.options,
  },
});

// The program signs with placeholders, and the host signs each request anew with the keys.
const code = `s3() {
  curl --silent --show-error --write-out '%{method} %{http_code}\\n' --user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY" \\
    --aws-sigv4 aws:amz:${AWS_REGION}:s3 "https://${place}/${S3_BUCKET}/$@"
}
s3 skillcell-example.txt --request PUT --data 'Hello from a sandbox. '
s3 skillcell-example.txt
s3 skillcell-example.txt --request DELETE
s3 other.txt
echo "the keys in the job: $AWS_ACCESS_KEY_ID $AWS_SECRET_ACCESS_KEY"`;
const result = await orchestrator.exec({ language: 'bash', code, network: [place], secrets: ['BUCKET'] });
console.log((result.stdout.text + result.stderr.text).trim());
console.log('sent:', result.network?.secrets, 'denied:', result.network?.denied.map(({ path, reason }) => `${path} ${reason}`));
console.log('the secret key is in the result:', JSON.stringify(result).includes(AWS_SECRET_ACCESS_KEY));

/** Passes a request on as it is: its signature covers method, path, headers and body. */
function passOn(incoming: IncomingMessage, response: ServerResponse): void {
  const { method, url: path, headers } = incoming;
  const outgoing = request({ host: endpoint.hostname, port: endpoint.port, method, path, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  outgoing.on('error', () => response.destroy());
  incoming.pipe(outgoing);
}
