import type { RunOutput } from './sandbox-tools.ts';
import type { ModelOutput } from './sdk-tool.ts';

/** What of an output goes to the service of the model: pictures apart from the rest, where there are any. */
export function modelOutput({ output }: { output: RunOutput }): ModelOutput {
  const pictures = output.displayed?.filter(({ base64 }) => base64 !== undefined) ?? [];
  if (pictures.length === 0) return { type: 'json', value: output as never };
  const displayed = output.displayed?.map(({ base64, ...rest }) =>
    base64 === undefined ? rest : { ...rest, attached: true },
  );
  return {
    type: 'content',
    value: [
      { type: 'text', text: JSON.stringify({ ...output, displayed }) },
      ...pictures.map(({ mediaType, base64 = '' }) => {
        return { type: 'file' as const, mediaType, data: { type: 'data' as const, data: base64 } };
      }),
    ],
  };
}
