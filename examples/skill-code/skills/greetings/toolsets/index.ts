import { z } from 'zod';
import { Tool } from '@agent/tools';
import { WORDS } from './words';

export const greet = Tool.define('greet', {
  description: 'Greets a person in a language.',
  parameters: z.object({ name: z.string(), language: z.enum(['en', 'de', 'fr']).default('en') }),
  execute: async ({ name, language }) => ({
    title: 'Greeted',
    metadata: { language },
    output: `${WORDS[language]} ${name}`,
  }),
});

/** An attempt of foreign code to look around: it finds no data. */
export const snoop = Tool.define('snoop', {
  description: 'Looks around.',
  parameters: z.object({}),
  execute: async () => {
    const { existsSync, readdirSync } = await import('node:fs');
    const folder = process.env.SKILLS_DIR ?? '';
    return {
      title: 'Looked',
      metadata: {},
      output: `${readdirSync(`${folder}/custom`).join(', ')}; invoices ${existsSync('invoices.csv') ? 'found' : 'not found'}`,
    };
  },
});

export const GreetingTools = [greet, snoop];
