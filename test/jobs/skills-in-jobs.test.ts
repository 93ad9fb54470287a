import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { Language } from '../../src/contracts/jobs/language.ts';
import type { JobResult } from '../../src/contracts/jobs/result.ts';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import { exportRuntimeGlobals, getActiveSkillsSubsystem } from '../../src/skills/index.ts';
import { SHARED_LEVELS, requireLevel } from '../fixtures/levels.ts';
import { skillLibrary, skillText } from '../fixtures/skill-library.ts';
import { MISSING_PYTHON, requireHere } from '../fixtures/describe-with.ts';
import { toolList } from '../fixtures/tool-list.ts';

const library = skillLibrary({
  'maps/SKILL.md': skillText({ name: 'maps', description: 'Maps.', import: ['custom.base'] }, 'Use data/points.csv.'),
  'maps/data/points.csv': 'x,y\n1,2\n',
  'maps/data/bytes.bin': { base64: Buffer.from([0, 255, 13, 10]).toString('base64') },
  // Not a valid path in a sandbox: it is left out.
  'maps/two\nlines.txt': 'x',
  'maps/scripts/draw.sh': { text: '#!/bin/sh\necho drawn\n', executable: true },
  'base/SKILL.md': skillText({ name: 'base', description: 'Base.' }, 'Base.'),
  'other/SKILL.md': skillText({ name: 'other', description: 'Unrelated.' }, 'UNRELATED'),
  'needs/SKILL.md': skillText({ name: 'needs', description: 'Needs a tool.' }, 'Look it up.'),
  'needs/tools.yaml': 'tools: [{ id: crm.find, required: true, role: lookup, why: Knows the customers. }]',
});
const orchestrator = createOrchestrator({ skills: library.subsystem });
afterAll(async () => {
  await orchestrator.close();
  library[Symbol.dispose]();
});

const skills = { refs: ['custom.maps'] };
const digestOfJob = exportRuntimeGlobals(library.subsystem, { refs: skills.refs, consumer: 'solver.codegen' })
  .descriptor.digest;

describe.each(SHARED_LEVELS)('skills of an exec job at level %s', (isolation) => {
  beforeEach((context) => requireLevel(context, isolation));

  const run = (language: Language, code: string, withSkills = true): Promise<JobResult> =>
    orchestrator.exec({ isolation, language, code, ...(withSkills ? { skills } : {}) });

  it('arrive completely with their imports and nothing else, and are reported', async () => {
    const result = await run(
      'javascript',
      `import { readdirSync } from 'node:fs';
       export default readdirSync(process.env.SKILLS_DIR, { recursive: true, withFileTypes: true })
         .filter((entry) => entry.isFile()).map((entry) => (entry.parentPath + '/' + entry.name).slice(process.env.SKILLS_DIR.length + 1)).sort();`,
    );
    expect(result.value).toEqual([
      'custom/base/SKILL.md',
      'custom/maps/SKILL.md',
      'custom/maps/data/bytes.bin',
      'custom/maps/data/points.csv',
      'custom/maps/scripts/draw.sh',
    ]);
    expect(result.skills.active.toSorted()).toEqual(['custom.base', 'custom.maps']);
    expect(result.skills.digest).toBe(digestOfJob);
    expect(result.skills.instructionSha256).toBeNull();
  });

  it('are read byte for byte by the module of each language', async (context) => {
    const node = await run(
      'javascript',
      `import { readSkillFile } from 'skillcell';
       const refused = ['../base/SKILL.md', '/etc/passwd', 'data/../SKILL.md', ''].map((path) => { try { readSkillFile('custom.maps', path); return path; } catch { return 'refused'; } });
       export default { text: readSkillFile('custom.maps', 'data/points.csv'), bytes: readSkillFile('custom.maps', 'data/bytes.bin', null).toString('hex'), refused };`,
    );
    const expected = { text: 'x,y\n1,2\n', bytes: '00ff0d0a', refused: ['refused', 'refused', 'refused', 'refused'] };
    expect(node.value).toEqual(expected);
    requireHere(context, MISSING_PYTHON);
    const python = await run(
      'python',
      `import skillcell
def refused(path):
    try:
        skillcell.read_skill_file("custom.maps", path)
    except FileNotFoundError:
        return "refused"
    return path
skillcell.set_value({"text": skillcell.read_skill_file("custom.maps", "data/points.csv"), "bytes": skillcell.read_skill_file("custom.maps", "data/bytes.bin", None).hex(), "refused": [refused(p) for p in ["../base/SKILL.md", "", "data/../SKILL.md", "/etc/passwd"]]})`,
    );
    expect(python.value).toEqual(expected);
  });

  it('keep the executable bit, and cannot be written at level namespace', async () => {
    const result = await run(
      'bash',
      `"$SKILLS_DIR/custom/maps/scripts/draw.sh"
       [ -x "$SKILLS_DIR/custom/maps/data/points.csv" ] && echo executable
       stat -c %a "$SKILLS_DIR/custom/maps/data/points.csv" "$SKILLS_DIR/custom/maps/scripts/draw.sh"
       { echo changed >"$SKILLS_DIR/custom/maps/SKILL.md"; } 2>/dev/null && echo written
       { touch "$SKILLS_DIR/new"; } 2>/dev/null && echo created
       true`,
    );
    const lines = result.stdout.text.trim().split('\n');
    expect(lines.slice(0, 3)).toEqual(['drawn', '444', '555']);
    if (isolation === 'namespace') expect(lines).toHaveLength(3);
  });

  it('change nothing else in the result of the job', async () => {
    const code = `import { readdirSync } from 'node:fs'; console.log(process.argv.length, readdirSync('.').sort().join(), Object.keys(process.env).sort().join()); export default 1;`;
    const [withSkills, without] = [await run('javascript', code), await run('javascript', code, false)];
    for (const key of ['outcome', 'exitCode', 'stdout', 'stderr', 'value', 'artifacts', 'omitted', 'calls'] as const) {
      expect(withSkills[key], key).toEqual(without[key]);
    }
    expect(without.skills).toEqual({ active: [], digest: null, instructionSha256: null });
    expect(withSkills.skills.digest).toMatch(/^sha256:/);
  });

  it('are an empty folder in a job without skills', async () => {
    expect((await run('bash', 'ls -A "$SKILLS_DIR"; test -d "$SKILLS_DIR"', false)).stdout.text).toBe('');
  });
});

it('the subsystem of a job is active for its tools, and only there', async () => {
  const seen: unknown[] = [];
  await using other = createOrchestrator({
    skills: library.subsystem,
    tools: toolList([
      ['look', { description: 'Looks.', execute: async () => void seen.push(getActiveSkillsSubsystem()) }],
    ]),
  });
  const code = "import { callTool } from 'skillcell'; await callTool('look');";
  expect((await other.exec({ code, isolation: 'none', skills, tools: ['look'] })).outcome).toBe('succeeded');
  expect(seen).toEqual([library.subsystem]);
  expect(getActiveSkillsSubsystem()).toBeUndefined();
});

describe('a job whose skill requires a tool', () => {
  it('is refused without the tool, before anything runs', async () => {
    const find = { id: 'crm.find', description: 'Finds.', execute: async () => 'Ada' };
    const other = { id: 'crm.other', description: 'Is there.', execute: async () => 'other' };
    await using host = createOrchestrator({ skills: library.subsystem, tools: [find, other] });
    const job = { task: 'Look Ada up.', dryRun: true, skills: { refs: ['custom.needs'] }, isolation: 'none' as const };
    for (const tools of [undefined, ['crm.other']]) {
      await expect(host.codegen({ ...job, ...(tools === undefined ? {} : { tools }) })).rejects.toMatchObject({
        code: 'skills.reference-denied',
        message:
          'Cannot load a skill for solver.codegen: needs the tool crm.find, which is not offered, got "custom.needs".',
      });
    }
    expect((await host.codegen({ ...job, tools: ['crm.*'] })).skills.active).toEqual(['custom.needs']);
  });
});
