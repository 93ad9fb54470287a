import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import type { GenerateOptions } from '../../src/contracts/jobs/generation.ts';

interface Letter {
  subject: string;
  body: string;
}

const letter: z.ZodType<Letter> = z.object({
  subject: z.string().max(60),
  body: z.string().startsWith('Dear ').endsWith('Kind regards'),
});

/** A letter to write with a skill and to check with a schema. */
export const reminder: GenerateOptions<Letter> = {
  prompt: 'Remind Ada Meyer, for the first time, of 1,480.00 that was due on 1 October 2026.',
  consumer: 'llm.generate_content',
  skills: ['custom.letters'],
  output: letter,
};

/** The recorded conversation that replaces a model if none is configured. */
export const reminderRecording: string = fileURLToPath(new URL('./recording.json', import.meta.url));
