/**
 * Loads every SKILL.md below a folder and compares the results with the rules: `npm run -s corpus -- DIR [--json]`. Exit code 1 if a rule is broken,
 * 2 if the folder cannot be read.
 */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { runCorpus } from './corpus/run-corpus.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'boolean', default: false } },
});
const [folder, ...more] = positionals;
if (folder === undefined || more.length > 0) {
  process.stderr.write('Usage: npm run -s corpus -- DIR [--json]\n');
  process.exitCode = 2;
} else {
  try {
    const report = runCorpus(resolve(process.env['INIT_CWD'] ?? '.', folder));
    if (values.json) process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
    else {
      const { files, loaded, keptOut, causes, codes, exceptions, unread } = report;
      process.stdout.write(`${files} SKILL.md: ${loaded} loaded, ${keptOut} named\n`);
      for (const [cause, count] of Object.entries(causes))
        process.stdout.write(`${String(count).padStart(8)}  kept out: ${cause}\n`);
      for (const [code, count] of Object.entries(codes))
        process.stdout.write(`${String(count).padStart(8)}  ${code}\n`);
      for (const { path, rule, reason } of exceptions)
        process.stdout.write(`${rule}: ${JSON.stringify(path)}: ${JSON.stringify(reason)}\n`);
      for (const { path, reason } of unread) process.stdout.write(`not read: ${JSON.stringify(path)}: ${reason}\n`);
    }
    process.exitCode = report.exceptions.length === 0 ? 0 : 1;
  } catch (cause) {
    process.stderr.write(`Cannot read the corpus: ${(cause as Error).message}\n`);
    process.exitCode = 2;
  }
}
