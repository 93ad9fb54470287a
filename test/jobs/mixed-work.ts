import { defineTool } from '../../src/tools/define/tool.ts';
import { skillLibrary, skillText } from '../fixtures/skill-library.ts';

/** Each consumer sees the skill of its name, and one whose code says its own name. */
export const CONSUMERS = ['north', 'east', 'south', 'west'] as const;
export type Consumer = (typeof CONSUMERS)[number];

/** Skills, of which each consumer may have its own. */
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

/** What the tools make of bytes. */
export const turned = (bytes: Uint8Array): Buffer => Buffer.from(bytes).reverse();

/** What a tool of the host has seen of a job. */
export interface Seen {
  tool: string;
  tag: unknown;
  jobId: string;
  context: unknown;
  attempt: number;
}

/** Two tools that turn bytes, and note who calls. */
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
