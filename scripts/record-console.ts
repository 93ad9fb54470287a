/** Takes the pictures of docs/console.md: `node scripts/record-console.ts` writes docs/images/console-*.png. It needs Chromium. */
import { fileURLToPath } from 'node:url';
import { skillArchive } from '../test/fixtures/registry/skill-archive.ts';
import { uploadForm } from '../test/fixtures/service.ts';
import { startConsole } from '../test/fixtures/console.ts';

const PROGRAM = `import csv, os

rows = [('1960-01', 316.4), ('1990-01', 354.1), ('2020-01', 413.6)]
for month, ppm in rows:
    print(f'{month}  \\033[32m{"█" * int((ppm - 300) / 4)}\\033[0m {ppm} ppm')
with open(os.environ['SKILLCELL_OUTPUT'] + '/rise.csv', 'w') as file:
    csv.writer(file).writerows(rows)
`;

await using scene = await startConsole();
const { call } = scene.service;
const { json } = await call('/jobs', {
  body: { kind: 'exec', language: 'python', code: PROGRAM, label: 'CO₂ at Mauna Loa' },
  headers: { prefer: 'wait=60' },
});
const first = await call('/skills/upload', {
  body: uploadForm(skillArchive('units', { description: 'Units in reports.' })),
});
const skill = first.json.skill.metadata.labels.id;
const next = skillArchive(
  'units',
  { description: 'Units in reports.' },
  { body: 'Give SI units with every number.\n' },
);
await call(`/skills/${skill}`, { method: 'PUT', body: uploadForm(next), headers: { 'if-match': '"1"' } });

for (const [name, path, text] of [
  ['job', `/jobs/${json.jobId}`, '413.6 ppm'],
  ['skill', `/skills/${skill}/versions`, '+Give SI units'],
] as const) {
  const { page } = await scene.open({ path, width: 900 });
  await page.getByText(text).first().waitFor();
  const file = fileURLToPath(new URL(`../docs/images/console-${name}.png`, import.meta.url));
  await page.screenshot({ path: file, clip: { x: 0, y: 0, width: 900, height: 700 } });
}
