import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Orchestrator } from '../../../src/jobs/orchestrator.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import { MISSING_PYTHON, requireHere } from '../../fixtures/describe-with.ts';
import { everyRunner, requireEachLevel, type EachLevel } from '../../fixtures/every-level.ts';

/** A program in each language that reads a file, prints, and writes an artifact. */
const PROGRAMS = {
  javascript: `import { readFileSync, writeFileSync } from 'node:fs';
console.log(readFileSync('in.txt', 'utf8') * 7);
writeFileSync(process.env.SKILLCELL_OUTPUT + '/out.txt', 'left');`,
  typescript: `import { readFileSync, writeFileSync } from 'node:fs';
const factor: number = Number(readFileSync('in.txt', 'utf8'));
console.log(factor * 7);
writeFileSync(process.env.SKILLCELL_OUTPUT + '/out.txt', 'left');`,
  python: `import os
print(int(open('in.txt').read()) * 7)
open(os.environ['SKILLCELL_OUTPUT'] + '/out.txt', 'w').write('left')`,
  bash: `echo $(( $(< in.txt) * 7 ))
printf left > "$SKILLCELL_OUTPUT/out.txt"`,
};
const LEVELS: readonly EachLevel[] = ['none', 'namespace', 'container'];
const rows = LEVELS.flatMap((level) => Object.entries(PROGRAMS).map(([language, code]) => ({ level, language, code })));

let orchestrator: Orchestrator;
beforeAll(async () => {
  orchestrator = createOrchestrator({ runners: await everyRunner(), allowUnisolated: true });
});
afterAll(() => orchestrator.close());

it.for(rows)('a program in $language runs at level $level', async ({ level, language, code }, context) => {
  requireEachLevel(context, level);
  requireHere(context, language === 'python' && level !== 'container' ? MISSING_PYTHON : undefined);
  const result = await orchestrator.exec({ isolation: level, language, code, files: { 'in.txt': '6' } });
  expect(result).toMatchObject({ outcome: 'succeeded', exitCode: 0, isolation: level, stdout: { text: '42\n' } });
  expect(await orchestrator.readArtifact(result, 'out.txt', 'utf8')).toBe('left');
});
