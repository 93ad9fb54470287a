import { parse, type Node } from 'acorn';
import { IMPORT, META } from './session-globals.ts';

/** Parts of a syntax tree that matter here. */
interface ModuleNode extends Node {
  source?: { raw: string };
  attributes?: { key: { name?: string; raw?: string }; value: { raw: string } }[];
  specifiers?: { type: string; local: Named; imported?: Named; exported?: Named }[];
  declaration?: Node | null;
  body?: ModuleNode[];
}

interface Named {
  name?: string;
  raw?: string;
}

interface Change {
  start: number;
  end: number;
  text: string;
}

/**
 * Code of a module as a script, which is what an interpreter that goes on runs: imports become calls that are waited for, and exports
 * what they export. Lines stay where they are. Code that needs nothing of it, or cannot be parsed, stays as it is.
 */
export function asScript(code: string): string {
  if (!/\b(?:import|export)\b/.test(code)) return code;
  let program: ModuleNode;
  try {
    program = parse(code, { ecmaVersion: 'latest', sourceType: 'module', allowHashBang: true }) as ModuleNode;
  } catch {
    // The interpreter says what is wrong with it, in its own words.
    return code;
  }
  const changes: Change[] = [];
  for (const statement of program.body ?? []) takeStatement(code, statement, changes);
  takeExpressions(program, changes);
  return apply(code, changes);
}

function takeStatement(code: string, node: ModuleNode, changes: Change[]): void {
  const { start, end, declaration } = node;
  if (node.type === 'ImportDeclaration') {
    changes.push({ start, end, text: padded(importOf(node), code.slice(start, end)) });
  } else if (node.type === 'ExportDefaultDeclaration' && declaration) {
    const isNamed = declaration.type.endsWith('Declaration') && (declaration as { id?: Node | null }).id !== null;
    changes.push({
      start,
      end: declaration.start,
      text: padded(isNamed ? '' : '(', code.slice(start, declaration.start)),
    });
    if (!isNamed) changes.push({ start: declaration.end, end, text: ');' });
  } else if (node.type === 'ExportNamedDeclaration' && declaration) {
    changes.push({ start, end: declaration.start, text: padded('', code.slice(start, declaration.start)) });
  } else if (node.type === 'ExportNamedDeclaration' || node.type === 'ExportAllDeclaration') {
    const text = node.source === undefined || node.source === null ? '' : `await ${IMPORT}(${node.source.raw});`;
    changes.push({ start, end, text: padded(text, code.slice(start, end)) });
  }
}

/** `import` as an expression: calls, and what a module knows of itself. */
function takeExpressions(node: unknown, changes: Change[]): void {
  if (typeof node !== 'object' || node === null) return;
  if (Array.isArray(node)) return node.forEach((child) => takeExpressions(child, changes));
  const { type, start, end } = node as ModuleNode;
  if (type === 'ImportExpression') changes.push({ start, end: start + 'import'.length, text: IMPORT });
  else if (type === 'MetaProperty' && (node as unknown as { meta: Named }).meta.name === 'import')
    return void changes.push({ start, end, text: META });
  for (const child of Object.values(node)) takeExpressions(child, changes);
}

function importOf({ source, attributes = [], specifiers = [] }: ModuleNode): string {
  const listed = attributes.map(({ key, value }) => `${key.name ?? key.raw}: ${value.raw}`);
  const options = listed.length === 0 ? '' : `, { with: { ${listed.join(', ')} } }`;
  const call = `await ${IMPORT}(${source?.raw}${options})`;
  const named = specifiers.filter(({ type }) => type !== 'ImportNamespaceSpecifier');
  const whole = specifiers.find(({ type }) => type === 'ImportNamespaceSpecifier');
  const names = named.map(({ local, imported }) => `${imported?.name ?? imported?.raw ?? 'default'}: ${local.name}`);
  if (whole === undefined) return names.length === 0 ? `${call};` : `const { ${names.join(', ')} } = ${call};`;
  const rest = names.length === 0 ? '' : `, { ${names.join(', ')} } = ${whole.local.name}`;
  return `const ${whole.local.name} = ${call}${rest};`;
}

/** A text with as many lines as what it takes the place of. */
function padded(text: string, replaced: string): string {
  return text + '\n'.repeat(replaced.split('\n').length - 1);
}

function apply(code: string, changes: Change[]): string {
  let text = code;
  for (const { start, end, text: next } of changes.toSorted((a, b) => b.start - a.start || b.end - a.end))
    text = text.slice(0, start) + next + text.slice(end);
  return text;
}
