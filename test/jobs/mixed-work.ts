import { defineTool } from '../../src/tools/define/tool.ts';
import { skillLibrary, skillText } from '../fixtures/skill-library.ts';

/** Each consumer sees the skill of its name, and the skill `code`. */
export const CONSUMERS = ['north', 'east', 'south', 'west'] as const;
export type Consumer = (typeof CONSUMERS)[number];

/** Skills of which each consumer may have only its own, and the skill `code`. */
export function consumersLibrary(): ReturnType<typeof skillLibrary> {
  return skillLibrary(
    Object.fromEntries([
      ...CONSUMERS.flatMap((name) => [
        [`${name}/SKILL.md`, skillText({ name, description: `Of ${name}.` }, `GO ${name.toUpperCase()} [[S:1]]`)],
        [`${name}/where.txt`, `in the ${name}`],
        [`${name}/sources.yaml`, `- sid: 1\n  url: https://${name}.example/\n  title: ${name}\n`],
      ]),
      ['code/SKILL.md', skillText({ name: 'code', description: 'Code.', toolsets: ['tools:Tools'] }, 'CODE')],
      [
        'code/tools.mjs',
        "let calls = 0;\nexport const Tools = [{ id: 'code.tag', description: 'Tags.', execute: ({ tag }, { job }) => ({ tag, job, calls: (calls += 1) }) }];",
      ],
    ]),
    {
      agentsConfig: Object.fromEntries(
        CONSUMERS.map((name) => [
          name,
          { disabled: CONSUMERS.filter((other) => other !== name).map((other) => `custom.${other}`) },
        ]),
      ),
    },
  );
}

/** Reverses bytes, as the tools do. */
export const turned = (bytes: Uint8Array): Buffer => Buffer.from(bytes).reverse();

/** Data of a job as seen by a tool of the host. */
export interface Seen {
  tool: string;
  tag: unknown;
  jobId: string;
  context: unknown;
  attempt: number;
}

/** Two tools that reverse bytes, and record their callers. */
export function toolbox(seen: Seen[]): ReturnType<typeof defineTool>[] {
  return ['box.left', 'box.right'].map((id) =>
    defineTool({
      id,
      description: 'Turns bytes.',
      async execute(input, { jobId, context, attempt }) {
        const { tag, bytes } = input as { tag: string; bytes: Uint8Array };
        seen.push({ tool: id, tag, jobId, context, attempt });
        await new Promise((resolve) => setTimeout(resolve, 5));
        return turned(bytes);
      },
    }),
  );
}
