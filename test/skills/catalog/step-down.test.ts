import { describe, expect, test } from 'vitest';
import type { CatalogFormat } from '../../../src/skills/catalog/catalog-entry.ts';
import { withLibrary } from '../../conformance/library.ts';

const text = (name: string): string =>
  `---\nname: ${name}\ndescription: ${name} does things. ${'More of it. '.repeat(10)}\nwhen_to_use: [now]\n---\nBody.`;
const files = Object.fromEntries(['a', 'b', 'c'].map((name) => [`${name}/SKILL.md`, text(name)]));
const tokens = (shown: string): number => Math.ceil(Buffer.byteLength(shown) / 4);

describe('a budget with steps by entry', () => {
  test.each<CatalogFormat>(['text', 'xml', 'markdown'])('steps down by one entry at a time, %s', (format) => {
    withLibrary({ files }, ({ subsystem }) => {
      const write = (budget?: number) => subsystem.skillsGalleryText({ format, budget, budgetSteps: 'entries' });
      const steps: string[] = [];
      for (let budget = tokens(write().text); budget > 0; budget -= 1) {
        const { text: shown, cut } = write(budget);
        const step = ['a', 'b', 'c'].map((name) => levelOf(shown, name)).join(' ');
        if (cut.omitted.length === 0) expect(tokens(shown)).toBeLessThanOrEqual(budget);
        if (step !== steps.at(-1)?.split(':')[1]) steps.push(`${cut.level}:${step}`);
      }
      expect(steps.slice(0, 7)).toEqual([
        'full:full full full',
        'brief:full full brief',
        'brief:full brief brief',
        'brief:brief brief brief',
        'ids:brief brief id',
        'ids:brief id id',
        'ids:id id id',
      ]);
      expect(steps.slice(7).every((step) => step.startsWith('omitted:'))).toBe(true);
      // If entries are left out, both ways give the same bytes.
      expect(write(5)).toEqual(subsystem.skillsGalleryText({ format, budget: 5 }));
      expect(write(5).cut.level).toBe('omitted');
    });
  });
});

function levelOf(shown: string, name: string): string {
  if (!shown.includes(`public.${name}`)) return 'none';
  if (!shown.includes(`${name} does things.`)) return 'id';
  return shown.slice(shown.indexOf(`${name} does things.`)).startsWith(`${name} does things. More`) ? 'full' : 'brief';
}
