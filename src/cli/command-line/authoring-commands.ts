import type { CommandSpecification } from '../options/flags/command.ts';
import { JSON_FLAG, OFFERED_TOOL_FLAG, SKILLS_FLAGS } from '../options/flags/flags.ts';

/** Commands that find skills, and commands for their authors. */
export const AUTHORING_COMMANDS: readonly CommandSpecification[] = [
  {
    path: ['skills', 'search'],
    summary: 'find skills by words of their ids, descriptions, headings and bodies',
    operands: 'TEXT',
    minimumOperands: 1,
    maximumOperands: 1,
    flags: [
      ...SKILLS_FLAGS,
      OFFERED_TOOL_FLAG,
      { name: 'max', value: 'N', summary: 'the most skills to name, 1 to 1000 (default: 10)' },
      JSON_FLAG,
    ],
    notes: [
      'TEXT is plain words: quotes, stars and AND have no meaning. Exit code 1 when nothing is found.',
      'The index is kept in $XDG_CACHE_HOME/skillcell (default: ~/.cache/skillcell).',
    ],
    load: async () => (await import('../commands/skills/run-search.ts')).runSearch,
  },
  {
    path: ['skills', 'explain'],
    summary: 'say why a consumer has or lacks a skill: rules, origin, imports, tokens, approval',
    operands: 'REF',
    minimumOperands: 1,
    maximumOperands: 1,
    flags: [...SKILLS_FLAGS, OFFERED_TOOL_FLAG, JSON_FLAG],
    notes: [
      'Exit code 1 when the consumer may not have it. Without --consumer, internal skills are explained as well.',
    ],
    load: async () => (await import('../commands/skills/run-explain.ts')).runExplain,
  },
  {
    path: ['skills', 'graph'],
    summary: 'print the imports of skills, with cycles and dropped imports',
    operands: '[REF...]',
    maximumOperands: Number.POSITIVE_INFINITY,
    flags: [
      ...SKILLS_FLAGS,
      {
        name: 'format',
        value: 'NAME',
        choices: ['text', 'dot', 'json'],
        summary: 'text, dot (for Graphviz) or json (default: text)',
      },
      { ...JSON_FLAG, summary: 'the same as --format json' },
    ],
    notes: ['Without REF, all skills that the consumer may have.'],
    load: async () => (await import('../commands/skills/run-graph.ts')).runGraph,
  },
  {
    path: ['skills', 'schema'],
    summary: 'print the JSON Schema of a format, for editors and programs',
    operands: '[NAME]',
    maximumOperands: 1,
    flags: [JSON_FLAG],
    notes: ['Without NAME, it lists the formats. A schema is JSON with and without --json.'],
    load: async () => (await import('../commands/skills/run-schema.ts')).runSchema,
  },
  {
    path: ['skills', 'new'],
    summary: 'begin a skill that is valid by the Agent Skills specification',
    operands: 'NAME',
    minimumOperands: 1,
    maximumOperands: 1,
    flags: [
      { name: 'into', value: 'DIR', summary: 'the folder that gets it (default: the working folder)' },
      JSON_FLAG,
    ],
    load: async () => (await import('../commands/skills/run-new.ts')).runNew,
  },
  {
    path: ['skills', 'export'],
    summary: 'write skills so that other agents read them',
    operands: 'REF...',
    minimumOperands: 1,
    maximumOperands: Number.POSITIVE_INFINITY,
    flags: [
      {
        name: 'to',
        value: 'NAME',
        choices: ['agentskills', 'claude', 'agents-md'],
        summary: 'agentskills (by the specification), claude (Claude Code) or agents-md (AGENTS.md beside skills/)',
      },
      {
        name: 'output',
        short: 'o',
        value: 'DIR',
        summary: 'the folder that gets them (default: .agents/skills, .claude/skills or the working folder)',
      },
      ...SKILLS_FLAGS,
      JSON_FLAG,
    ],
    notes: ['Fields without a key in the specification stay in metadata, for `skills import`. Nothing is overwritten.'],
    load: async () => (await import('../commands/skills/run-export.ts')).runExport,
  },
  {
    path: ['skills', 'import'],
    summary: 'import skills of others, and restore exported ones from their metadata',
    operands: 'PATH',
    minimumOperands: 1,
    maximumOperands: 1,
    flags: [
      { name: 'into', value: 'DIR', summary: 'the folder that gets them (default: the working folder)' },
      JSON_FLAG,
    ],
    load: async () => (await import('../commands/skills/run-import.ts')).runImport,
  },
];
