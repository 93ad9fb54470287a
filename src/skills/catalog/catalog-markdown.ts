import { type CatalogLayout, entryBrief } from './catalog-entry.ts';

/** One line a skill. */
export const markdownLayout: CatalogLayout = {
  empty: '',
  frame: { before: '', between: '', after: '' },
  idFrame: { before: '', after: '' },
  entry: ({ skill }, description) => `- **${skill.id}**: ${description}\n`,
  briefEntry: (entry) => `- **${entry.skill.id}**: ${entryBrief(entry)}\n`,
  idEntry: ({ skill }) => `- **${skill.id}**\n`,
  beforeNotice: () => '',
  description: { lineOverhead: 0 },
};
