import type { SourceRow } from '../../src/contracts/skills/skill.ts';
import { CITATION_TOKEN, parseCitation } from '../../src/skills/render/citation-token.ts';

/** A readable report: its citations are footnotes. */
export interface FootnotedReport {
  text: string;
  /** In the order of their citations. */
  footnotes: string[];
}

/**
 * Turns `[[S:n]]` into `[1]`, `[2]` … in the order of the text, and the rows of the job's pool into footnotes. The report's own list of sources is
 * removed, because the footnotes replace it.
 *
 * @param sources the pool of the job's result
 */
export function resolveFootnotes(report: string, sources: readonly SourceRow[]): FootnotedReport {
  const numbers = new Map<number, number>();
  const text = report
    .replace(/^- \[\[S:[^\n]*\n/gm, '')
    .replace(CITATION_TOKEN, (_token, inside: string) => {
      const cited = parseCitation(inside).ranges.flatMap(({ low, high }) =>
        sources.flatMap(({ sid }) => (sid !== undefined && BigInt(sid) >= low && BigInt(sid) <= high ? [sid] : [])),
      );
      for (const sid of cited) if (!numbers.has(sid)) numbers.set(sid, numbers.size + 1);
      return cited.map((sid) => `[${numbers.get(sid)}]`).join('');
    })
    // Headings without content below them.
    .replace(/^(#+) [^\n]*\n+(?=\1#|$(?![^]))/gm, '');
  const footnotes = [...numbers].map(([sid, number]) => {
    const row = sources.find((each) => each.sid === sid);
    return `[${number}] ${[row?.author, row?.title, row?.url].filter(Boolean).join(', ')}`;
  });
  return { text: text.replace(/\n{3,}/g, '\n\n').trimEnd(), footnotes };
}
