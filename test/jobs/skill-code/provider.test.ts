import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import { MISSING_PYTHON, requireHere } from '../../fixtures/describe-with.ts';
import { LEVELS, requireLevel } from '../../fixtures/levels.ts';
import { skillLibrary } from '../../fixtures/skill-library.ts';

const MERMAID = `---
description: "Draws diagrams"
displayName: "Diagrams"
version: "1.0.0"
author: "An author"
tags: ["diagram"]
bindShells: ["Chat"]
provider:
  module: provider
  class: MermaidToolProvider
tools:
  - name: render_mermaid
    provider: mermaid
    config:
      timeout: 12
dependencies:
  - app.chat_shell.skills.provider
---

Draw.
`;

const UNITS_TYPESCRIPT = `export class Units {
  provider_name = 'units';
  supported_tools = ['convert', 'other'];
  create_tool(name: string) { return { execute: () => name }; }
}
`;
const UNITS_PYTHON = `class Units:
    provider_name = "units"
    supported_tools = ["convert", "other"]
    def create_tool(self, name, context, config):
        return lambda: name
`;

/** A skill with a tool of another provider than its own. */
function foreign(name: string, file: string, code: string): Record<string, string> {
  const front = `name: ${name}\ndescription: Converts.\nprovider:\n  module: provider\n  class: Units\n`;
  const tools = 'tools:\n  - name: convert\n    provider: units\n  - name: other\n    provider: elsewhere\n';
  return { [`${name}/SKILL.md`]: `---\n${front}${tools}---\nBody.\n`, [`${name}/${file}`]: code };
}

/** The example of the documentation of providers, without the parts that only its own host has. */
const PROVIDER = `from typing import Any, Optional
from langchain_core.tools import BaseTool
from app.chat_shell.skills.provider import SkillToolProvider
from app.chat_shell.skills.context import SkillToolContext

class MermaidToolProvider(SkillToolProvider):
    @property
    def provider_name(self) -> str:
        return "mermaid"

    @property
    def supported_tools(self) -> list[str]:
        return ["render_mermaid", "another"]

    def create_tool(
        self,
        tool_name: str,
        context: SkillToolContext,
        tool_config: Optional[dict[str, Any]] = None,
    ) -> BaseTool:
        config = tool_config or {}
        from .render_mermaid import RenderMermaidTool
        return RenderMermaidTool(
            task_id=context.task_id,
            subtask_id=context.subtask_id,
            ws_emitter=context.ws_emitter,
            render_timeout=config.get("timeout", 30.0),
        )

    def validate_config(self, tool_config):
        return tool_config.get("timeout", 1) > 0
`;

const TOOL = `from langchain_core.tools import BaseTool

class RenderMermaidTool(BaseTool):
    name: str = "render_mermaid"
    description: str = "Renders a diagram."
    task_id: str = ""
    subtask_id: Any = None
    ws_emitter: Any = None
    render_timeout: float = 1.0

    def _run(self, code: str, scale: int = 1):
        if code == "bad":
            raise ValueError("no diagram in /skills/custom/mermaid")
        return {"svg": f"<svg>{code}</svg>", "timeout": self.render_timeout, "job": self.task_id, "scale": scale}
`.replace('\n\n', '\nfrom typing import Any\n\n');

const library = skillLibrary({
  'mermaid/SKILL.md': MERMAID,
  'mermaid/provider.py': PROVIDER,
  'mermaid/render_mermaid.py': TOOL,
  'units/SKILL.md': `---
name: units
description: Units.
provider: { module: provider, class: UnitsProvider }
tools:
  - { name: convert, provider: units, config: { factor: 3 } }
---
Convert.
`,
  'units/provider.ts': `import { SkillToolProvider } from 'skillcell/skills';
import { times } from './times';
export class UnitsProvider extends SkillToolProvider {
  get provider_name(): string { return 'units'; }
  get supported_tools(): string[] { return ['convert']; }
  validate_config(config: { factor: number }): boolean { return config.factor > 0; }
  create_tool(name: string, context: { job: string; skill: string }, config: { factor: number }) {
    return {
      description: 'Converts.',
      args_schema: { type: 'object', properties: { value: { type: 'number' } }, required: ['value'] },
      _call: async ({ value }: { value: number }) => ({ value: times(value, config.factor), job: context.job, skill: context.skill }),
    };
  }
}
`,
  ...foreign('foreign', 'provider.ts', UNITS_TYPESCRIPT),
  ...foreign('pyforeign', 'provider.py', UNITS_PYTHON),
  'units/times.ts': 'export const times = (a: number, b: number): number => a * b;\n',
});
const kinds = skillLibrary({
  'kinds/SKILL.md': `---
name: kinds
description: Tools in Python, of each kind.
toolsets: ["tools:tools"]
---
Body.
`,
  'kinds/tools.py': `import asyncio
from langchain_core.tools import BaseTool, tool

@tool
def shout(text: str, times: int = 1):
    "Shouts."
    return text.upper() * times

async def later(number: float):
    await asyncio.sleep(0.01)
    return number + 1

class Model:
    @staticmethod
    def model_json_schema():
        return {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}

class WithSchema(BaseTool):
    name = "with_schema"
    args_schema = Model
    async def _arun(self, a):
        return {"title": "T", "metadata": {}, "output": a}

def odd():
    return {1, 2}

def quits():
    raise SystemExit(3)

tools = [shout, later, WithSchema(), odd, quits]
`,
});
afterAll(() => kinds[Symbol.dispose]());

const orchestrator = createOrchestrator({ skills: library.subsystem });
afterAll(async () => {
  await orchestrator.close();
  library[Symbol.dispose]();
});

describe.each(LEVELS)('a provider of a skill at level %s', (isolation) => {
  beforeEach((context) => requireLevel(context, isolation));

  it('in Python makes the tools that the skill declares, with their config', async (context) => {
    requireHere(context, MISSING_PYTHON);
    const result = await orchestrator.exec({
      isolation,
      jobId: `python-provider-${isolation}`,
      skills: { refs: ['custom.mermaid'] },
      tools: ['render_mermaid'],
      code: `import { tools } from 'skillcell';
const attempt = (args) => tools.render_mermaid(args).catch(({ code, message }) => ({ code, message }));
export default await Promise.all([attempt({ code: 'a' }), attempt({ code: 'bad' }), attempt({ code: 5 }), attempt({})]);`,
    });
    expect(result.stderr.text).toBe('');
    expect(result.value).toEqual([
      { svg: '<svg>a</svg>', timeout: 12, job: `python-provider-${isolation}`, scale: 1 },
      { code: 'skill-code.failed', message: 'The code of custom.mermaid failed: no diagram in [path].' },
      { code: 'tool.invalid-arguments', message: expect.any(String) as string },
      { code: 'tool.invalid-arguments', message: expect.any(String) as string },
    ]);
  });

  it('in Python may give functions, with and without await, and failures affect single calls', async (context) => {
    requireHere(context, MISSING_PYTHON);
    await using host = createOrchestrator({ skills: kinds.subsystem });
    const result = await host.exec({
      isolation,
      skills: { refs: ['custom.kinds'] },
      tools: ['shout', 'later', 'with_schema', 'odd', 'quits'],
      code: `import { tools } from 'skillcell';
const attempt = (id, args) => tools.call(id, args).catch(({ code }) => code);
export default await Promise.all([attempt('shout', { text: 'a', times: 2 }), attempt('shout', { text: 7 }), attempt('shout', { text: 'a', more: 1 }),
  attempt('later', { number: 1 }), attempt('with_schema', { a: 1 }), attempt('with_schema', {}), attempt('odd', {}), attempt('quits', {})]);`,
    });
    expect(result.stderr.text).toBe('');
    const [fits, fails] = ['tool.invalid-arguments', 'skill-code.failed'];
    const unsent = 'tool.invalid-result';
    expect(result.value).toEqual(['AA', fits, fits, 2, { title: 'T', metadata: {}, output: 1 }, fits, unsent, fails]);
  });

  it.for(['foreign', 'pyforeign'])(
    'other than the provider that a tool of %s names loads nothing',
    async (skill, context) => {
      if (skill === 'pyforeign') requireHere(context, MISSING_PYTHON);
      const job = orchestrator.exec({ isolation, skills: { refs: [`custom.${skill}`] }, tools: ['*'], code: '1' });
      await expect(job).rejects.toMatchObject({
        code: 'skill-code.load-failed',
        message: expect.stringMatching(/the tool other is of the provider elsewhere, and .* is units/) as string,
      });
    },
  );

  it('in TypeScript does the same', async () => {
    const result = await orchestrator.exec({
      isolation,
      jobId: `typescript-provider-${isolation}`,
      skills: { refs: ['custom.units'] },
      tools: ['conv*'],
      code: `import { tools } from 'skillcell'; export default await tools.convert({ value: 2 });`,
    });
    expect(result.stderr.text).toBe('');
    expect(result.value).toEqual({ value: 6, job: `typescript-provider-${isolation}`, skill: 'custom.units' });
  });
});
