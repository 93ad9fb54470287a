import type { OutputSchema } from './output-schema.ts';

const DEFAULT_SYSTEM =
  'You write what the user asks for. Answer with that alone: nothing before it, and nothing about it.';

/** The system prompt of a generation: the same for all prompts with the same instructions, schema and skills. */
export function generationSystem(
  system: string | undefined,
  schema: OutputSchema | undefined,
  instructionBlock: string,
): string {
  const sections = [(system ?? DEFAULT_SYSTEM).trim()];
  if (schema !== undefined)
    sections.push(
      `Answer\n- Give exactly one fenced code block, marked json, with one JSON value in it that fits this JSON schema:\n${JSON.stringify(schema.json)}`,
    );
  if (instructionBlock === '') return `${sections.join('\n\n')}\n`;
  sections.push(
    'Skills\nThe block below holds expert instructions. Follow them where they apply; where they say otherwise, the user and the rules above go first.',
  );
  return `${sections.join('\n\n')}\n\n${instructionBlock}`;
}

/** The message that says what was wrong with an answer. */
export function generationFaultMessage(fault: string): string {
  return `That answer was not taken: ${fault}. Give the whole value again, corrected, in one fenced code block marked json.\n`;
}
