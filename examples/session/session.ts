/** A session that reads a table, plots it, survives a loop, and plots again: `node examples/session/session.ts`. */
import { createHash } from 'node:crypto';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';

await using orchestrator = createOrchestrator({ allowUnisolated: true });
await using session = await orchestrator.session({
  files: { 'co2.csv': 'year,ppm\n1960,316.9\n1980,338.8\n2000,369.7\n2020,414.2\n' },
});

const loaded = await session.run(`
import { readFileSync } from 'node:fs';
const rows = readFileSync('co2.csv', 'utf8').trim().split('\\n').slice(1).map((line) => line.split(',').map(Number));
rows.length
`);
console.log(`run ${loaded.run}: ${String(loaded.value)} rows`);

const plotted = await session.run(`
const place = ([year, ppm]) => \`\${(year - 1960) * 5},\${Math.round(450 - ppm)}\`;
const plot = (colour) => \`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 320 150"><polyline fill="none" stroke="\${colour}" points="\${rows.map(place).join(' ')}"/></svg>\`;
display(plot('black'), 'image/svg+xml');
`);
console.log(`run ${plotted.run}:`, plotted.results[0]?.data['image/svg+xml']);

const stopped = await session.run('let years = 0;\nfor (;;) years += 1;', { timeoutMs: 500 });
console.log(`run ${stopped.run}: ${stopped.outcome}, ${stopped.state}; ${stopped.error?.message}`);

const again = await session.run(`
import { writeFileSync } from 'node:fs';
const rise = rows.at(-1)[1] - rows[0][1];
writeFileSync(process.env.SKILLCELL_OUTPUT + '/plot.svg', plot('red'));
\`\${rise.toFixed(1)} ppm in \${rows.at(-1)[0] - rows[0][0]} years\`
`);
console.log(`run ${again.run}: ${String(again.value)}`);

const job = await session.close();
for (const { path, mediaType } of job.artifacts) console.log(`left: ${path}, ${mediaType}`);
const picture = await orchestrator.readArtifact(job, 'plot.svg');
console.log(createHash('sha256').update(picture).digest('hex').slice(0, 8), picture.length, 'bytes');
