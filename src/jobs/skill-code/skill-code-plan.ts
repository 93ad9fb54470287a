import type { Skill } from '../../contracts/skills/skill.ts';
import type { ExportReference, SkillCodeSpec } from '../../contracts/skills/skill-code-spec.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { MAX_TOOLS } from './described-tools.ts';

/** The code of a skill in one language. */
export interface SkillCodePart {
  language: 'javascript' | 'python';
  spec: Omit<SkillCodeSpec, 'skill' | 'job'>;
}

const ENDINGS: Record<SkillCodePart['language'], readonly string[]> = {
  javascript: ['.ts', '.mts', '.js', '.mjs', '.cjs', '.cts', '/index.ts', '/index.mts', '/index.js', '/index.mjs'],
  python: ['.py', '/__init__.py'],
};
const NONE: SkillCodePart['spec'] = { toolsets: [], tools: [], mostTools: MAX_TOOLS, dependencies: [] };

/**
 * The code that a skill's frontmatter names, by language; empty for most skills. Files are looked up in the skill's manifest, not on a disk.
 *
 * @throws SkillcellError `skill-code.invalid` for a reference that names no file
 */
export function planSkillCode(skill: Skill): SkillCodePart[] {
  const { toolsets = [], provider, dependencies = [] } = skill.fields;
  const parts = new Map<SkillCodePart['language'], SkillCodePart['spec']>();
  const partOf = (language: SkillCodePart['language']): SkillCodePart['spec'] => {
    const part = parts.get(language) ?? { ...NONE, toolsets: [] };
    parts.set(language, part);
    return part;
  };
  for (const reference of toolsets) {
    const { path, name } = splitReference(reference);
    const found = findFile(skill, path, `toolsets must name a file of the skill, got ${JSON.stringify(reference)}`);
    partOf(found.language).toolsets.push({ path: found.path, name });
  }
  let owner: SkillCodePart['language'] | undefined;
  if (provider !== undefined) {
    const { module, class: name } = provider;
    if (module === undefined || name === undefined)
      throw invalid(skill, 'provider must have a module and a class', JSON.stringify(provider));
    const written = JSON.stringify(module);
    const path = /[/]|\.[cm]?[jt]s$|\.py$/.test(module) ? module : module.replaceAll('.', '/');
    const found = findFile(skill, path, `provider.module must name a file of the skill, got ${written}`, [
      'python',
      'javascript',
    ]);
    owner = found.language;
    Object.assign(partOf(owner), { provider: { path: found.path, name }, tools: declaredTools(skill) });
  }
  owner ??= [...parts.keys()][0];
  if (owner !== undefined) partOf(owner).dependencies = dependencies;
  return [...parts].map(([language, spec]) => ({ language, spec }));
}

/** Splits `path:Export`; without a name, the default export. */
function splitReference(reference: string): ExportReference {
  const at = reference.lastIndexOf(':');
  return at < 0
    ? { path: reference, name: 'default' }
    : { path: reference.slice(0, at), name: reference.slice(at + 1) || 'default' };
}

function findFile(
  skill: Skill,
  given: string,
  fault: string,
  languages: readonly SkillCodePart['language'][] = ['javascript', 'python'],
): { path: string; language: SkillCodePart['language'] } {
  const base = given.replace(/^\.\//, '');
  const paths = new Set(skill.files.map(({ path }) => path));
  for (const language of languages) {
    const endings = ENDINGS[language];
    const isWhole = endings.some((ending) => base.endsWith(ending) && !ending.startsWith('/'));
    const found = [...(isWhole ? [base] : []), ...endings.map((ending) => base + ending)].find((path) =>
      paths.has(path),
    );
    if (found !== undefined) return { path: found, language };
  }
  throw new SkillcellError('skill-code.invalid', `Cannot load the code of ${skill.id}: ${fault}.`);
}

function declaredTools(skill: Skill): SkillCodeSpec['tools'] {
  return (skill.fields.tools ?? []).map((row) => {
    if (typeof row === 'string') return { name: row, config: {} };
    const { name, provider, config } = { ...(row as Record<string, unknown>) };
    if (typeof name !== 'string' || !isMap(config ?? {}) || !['string', 'undefined'].includes(typeof provider))
      throw invalid(skill, 'tools must be a list of { name, provider?, config? }', JSON.stringify(row).slice(0, 200));
    return {
      name,
      ...(provider === undefined ? {} : { provider: provider as string }),
      config: (config ?? {}) as Record<string, unknown>,
    };
  });
}

function isMap(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function invalid(skill: Skill, fault: string, got: string): SkillcellError {
  return new SkillcellError('skill-code.invalid', `Cannot load the code of ${skill.id}: ${fault}, got ${got}.`);
}
