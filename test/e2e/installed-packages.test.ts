import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import { createLocalRunner } from '../../src/sandboxes/local/local-runner.ts';
import { MISSING_PYTHON, requireHere } from '../fixtures/describe-with.ts';
import { LEVELS, requireLevel } from '../fixtures/levels.ts';

const orchestrator = createOrchestrator({ runners: [createLocalRunner()] });
afterAll(async () => await orchestrator.close());

/** The packages that a program in the sandbox finds, by a method other than that of the prompt. */
const OWN_LIST = `import importlib.metadata, sys
print(f"{sys.version_info.major}.{sys.version_info.minor}")
found = {}
for path in sys.path:
    for item in importlib.metadata.distributions(path=[path]):
        if item.metadata["Name"]:
            found.setdefault(item.metadata["Name"].lower(), f"{item.metadata['Name']} {item.version}")
print(", ".join(found[name] for name in sorted(found)))`;

describe.each(LEVELS)('the prompt of a codegen job at level %s', (isolation) => {
  beforeEach((context) => requireLevel(context, isolation));

  const promptFor = async (language: string): Promise<string> => {
    const result = await orchestrator.codegen({ task: 'Say hello.', language, isolation, dryRun: true });
    expect(result.diagnostics.filter(({ code }) => code === 'packages.unknown')).toEqual([]);
    return result.stdout.text;
  };

  it('names the version and the packages of Python in that sandbox, the same each time', async (context) => {
    requireHere(context, MISSING_PYTHON);
    const { stdout } = await orchestrator.exec({ language: 'python', code: OWN_LIST, isolation });
    const [version = '', packages = ''] = stdout.text.split('\n');
    expect(version).toMatch(/^3\.\d+$/);
    const prompt = await promptFor('python');
    expect(prompt).toContain(`- Python ${version} syntax or older.\n`);
    if (packages === '') expect(prompt).toContain('Count on no other package');
    else {
      const listed = /^- Modules: .*, no other: (.*)\.$/m.exec(prompt)?.[1] ?? '';
      const [shown = '', left] = listed.split(', … and ');
      expect(shown).not.toBe('');
      expect(left === undefined ? packages : packages.slice(0, shown.length)).toBe(shown);
    }
    expect(await promptFor('python')).toBe(prompt);
  });

  it('names the commands that a bash program finds there, and no others', async () => {
    const listed = /^- Commands: .* these alone: (.*)\.$/m.exec(await promptFor('bash'))?.[1]?.split(', ') ?? [];
    const candidates = ['awk', 'curl', 'git', 'jq', 'node', 'python3', 'sqlite3', 'zip'];
    const code = `for name in ${candidates.join(' ')}; do command -v "$name" >/dev/null && echo "$name"; done; true`;
    const { stdout } = await orchestrator.exec({ language: 'bash', code, isolation });
    expect(stdout.text).toContain('awk\n');
    expect(listed.filter((name) => candidates.includes(name))).toEqual(stdout.text.trim().split('\n'));
  });
});
