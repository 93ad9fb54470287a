import type { Language } from '../../src/contracts/job.ts';

/** What a program of one language has to know of its sandbox. */
export interface LanguageGuide {
  /** Tag of the code block. */
  tag: string;
  /** Lines on the language itself. */
  rules: string[];
  /** How a program sets the job's value. */
  value: string;
  /** How a program calls a tool; absent where it cannot. */
  tools?: string;
  /** How a program reads a file of a skill. */
  skillFiles: string;
}

const NODE_VALUE =
  "A result for a machine: `import { setValue } from 'skillcell'; setValue(anyJson)`, at most 256 KiB.";
const NODE_TOOLS =
  "Tools: `import { callTool } from 'skillcell'; const answer = await callTool(name, args)`; a refused call rejects.";
const NODE_SKILL_FILES =
  "Files of a skill: `import { readSkillFile } from 'skillcell'; const text = readSkillFile('public.example', 'references/table.md')`.";

/** The guides of all languages. */
export const LANGUAGE_GUIDES: Record<Language, LanguageGuide> = {
  javascript: {
    tag: 'javascript',
    rules: [
      'An ECMAScript module for Node.js 24: `import`, never `require`; top-level `await` works.',
      'Modules: the built-in ones (`node:fs/promises`, `node:path`, …) and `skillcell`. No other package is there.',
    ],
    value: NODE_VALUE,
    tools: NODE_TOOLS,
    skillFiles: NODE_SKILL_FILES,
  },
  typescript: {
    tag: 'typescript',
    rules: [
      'An ECMAScript module for Node.js 24, which strips types: no `enum`, `namespace`, parameter properties or decorators; import types with `import type`.',
      'Modules: the built-in ones (`node:fs/promises`, `node:path`, …) and `skillcell`. No other package is there.',
    ],
    value: NODE_VALUE,
    tools: NODE_TOOLS,
    skillFiles: NODE_SKILL_FILES,
  },
  python: {
    tag: 'python',
    rules: [
      'Python 3.11 syntax or older.',
      'Modules: the standard library and `skillcell`. Count on no other package: no numpy, pandas or matplotlib.',
      "Name the encoding of every text file: `open(path, encoding='utf-8')`.",
    ],
    value: 'A result for a machine: `import skillcell; skillcell.set_value(any_json)`, at most 256 KiB.',
    tools: 'Tools: `skillcell.call_tool(name, {...})` returns the answer; a refused call raises RuntimeError.',
    skillFiles: "Files of a skill: `skillcell.read_skill_file('public.example', 'references/table.md')` returns text.",
  },
  bash: {
    tag: 'bash',
    rules: [
      'Begin with `set -euo pipefail`; quote every expansion.',
      'Commands: what a minimal Debian has (coreutils, sed, grep, awk). No python, node, jq or curl.',
    ],
    value: 'A result for a machine: write one JSON text to the file named by `$SKILLCELL_VALUE`, at most 256 KiB.',
    skillFiles: 'Files of a skill `public.example`: below `$SKILLS_DIR/public/example/`.',
  },
};
