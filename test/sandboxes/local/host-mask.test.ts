import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JobResult } from '../../../src/contracts/jobs/result.ts';
import { writeTree } from '../../conformance/write-tree.ts';
import { dockerImage, dockerTest } from '../../fixtures/docker-image.ts';
import { requireLevel } from '../../fixtures/levels.ts';
import { skillText } from '../../fixtures/skill-library.ts';

const PROGRAM = fileURLToPath(new URL('../../../bin/skillcell.js', import.meta.url));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'host-mask-'));
  writeTree(join(folder, 'skills'), {
    'maps/SKILL.md': skillText({ name: 'maps', description: 'Maps.' }, 'Maps.'),
    'maps/scripts/draw.sh': { text: '#!/bin/sh\n', executable: true },
  });
  writeFileSync(join(folder, 'descriptor.json'), JSON.stringify({ custom_skills_root: 'skills' }));
  writeFileSync(join(folder, 'given'), 'given');
  writeFileSync(join(folder, 'tool'), '#!/bin/sh\n');
  chmodSync(join(folder, 'tool'), 0o755);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs a job from a separate host process with this umask. */
async function runUnderMask(mask: string, runner: string, level: string, language: string): Promise<JobResult> {
  const job = ['exec', '-', '--language', language, '--runner', runner, '--isolation', level, '--json'];
  const given = ['--descriptor', 'descriptor.json', '--skill', 'custom.maps', '--file', 'given', '--file', 'tool'];
  const child = spawn(
    '/bin/sh',
    ['-c', `umask ${mask}; exec "$@"`, 'sh', process.execPath, PROGRAM, ...job, ...given],
    {
      cwd: folder,
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  child.stdin.end(PROGRAMS[language]);
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => (text += part));
  await once(child, 'close');
  return JSON.parse(text) as JobResult;
}

/** The permissions of a job's files at every level, after the umask of its program. */
const MODES = [
  '22',
  '444 SKILL.md',
  '555 scripts/draw.sh',
  '644 given',
  '755 tool',
  '644 made',
  '755 made-folder',
  '644 made-folder/deep',
];

const PROGRAMS: Record<string, string> = {
  bash: `
echo made >made; mkdir made-folder; echo deep >made-folder/deep
echo $((10#$(umask)))
cd "$SKILLS_DIR/custom/maps"; stat -c '%a %n' SKILL.md scripts/draw.sh
cd "$WORKSPACE"; stat -c '%a %n' given tool made made-folder made-folder/deep`,
  javascript: `
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
writeFileSync('made', ''); mkdirSync('made-folder'); writeFileSync('made-folder/deep', '');
console.log(process.umask().toString(8));
const show = (folder, ...names) => { for (const name of names) console.log((statSync(folder + '/' + name).mode & 0o777).toString(8), name); };
show(process.env.SKILLS_DIR + '/custom/maps', 'SKILL.md', 'scripts/draw.sh');
show('.', 'given', 'tool', 'made', 'made-folder', 'made-folder/deep');`,
};

async function expectModes(runner: string, level: string, language: string): Promise<void> {
  const { outcome, stdout, stderr } = await runUnderMask('077', runner, level, language);
  expect(outcome, stderr.text).toBe('succeeded');
  expect(stdout.text.trim().split('\n')).toEqual(MODES);
}

describe('under a host with umask 077, the files of a job have the usual permissions', () => {
  it.each(['bash', 'javascript'])('at level none, in %s', (language) => expectModes('local', 'none', language));

  it('at level namespace', async (context) => {
    requireLevel(context, 'namespace');
    await expectModes('local', 'namespace', 'bash');
  });

  dockerTest('in a container', {}, async () => {
    await dockerImage();
    await expectModes('docker', 'container', 'bash');
  });
});
