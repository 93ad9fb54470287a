import type { ModelGateway } from '../../src/models/model-gateway.ts';

const PROGRAM = `import { tools } from 'skillcell';

for (const station of ['north', 'south']) {
  const values = await tools.station.reading({ station });
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  console.log(station, mean.toFixed(1));
}
`;

/** Stands in for a model: it writes the same program each time. */
export const author: ModelGateway = {
  id: 'example/author',
  generate: async () => ({
    text: `\`\`\`javascript\n${PROGRAM}\`\`\`\n`,
    model: 'example/author',
    usage: { inputTokens: null, outputTokens: null },
    finishReason: 'stop',
  }),
};
