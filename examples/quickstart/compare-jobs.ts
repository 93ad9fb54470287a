/** The prompt and the result of a job. */
export interface ComparedJob {
  /** The prompt that its model received. */
  prompt: string;
  report: string;
  active: readonly string[];
}

/** Rows of a comparison: a name, the value without the skill, the value with it. */
export function compareJobs(plain: ComparedJob, skilled: ComparedJob): string[][] {
  const row = (name: string, tell: (job: ComparedJob) => string): string[] => [name, tell(plain), tell(skilled)];
  const known = new Set(plain.prompt.split('\n'));
  const added = skilled.prompt.split('\n').filter((line) => !known.has(line));
  const steps = added.flatMap((line) => /^## (\d+\. .+)$/.exec(line)?.[1] ?? []);
  return [
    row('Prompt', ({ prompt }) => `${thousands(prompt.length / 4)} tokens`),
    row('skills in it', ({ active }) => active.join(', ')),
    ['new in it', '', `${added.length} lines: ${steps.join(' · ')}`],
    row('Report', ({ report }) => `${report.split(/\s+/).length} words`),
    row('its first lines', ({ report }) => opening(report)),
    row('sections', ({ report }) => sections(report) || 'none'),
    row('numbers with an uncertainty', ({ report }) => count(report, /±\s*\d/g)),
    row('sample sizes', ({ report }) => count(report, /\bn = \d/g)),
    row('statements with a source', ({ report }) => count(report.replace(/^- \[\[S:.*$/gm, ''), /\[\[S:/g)),
  ];
}

function sections(report: string): string {
  return [...report.matchAll(/^## (.+)$/gm)].map(([, title]) => title).join(' · ');
}

/** The first paragraph below the title, with the notation of citations and emphasis taken out. */
function opening(report: string): string {
  const paragraph = report.split('\n\n').find((each) => !/^[#!]/.test(each)) ?? '';
  return paragraph.replace(/\s*\[\[S:[^\]]*\]\]|\*\*/g, '').replace(/\s+/g, ' ');
}

function count(text: string, pattern: RegExp): string {
  return String(text.match(pattern)?.length ?? 0);
}

function thousands(value: number): string {
  return Math.round(value).toLocaleString('en');
}
