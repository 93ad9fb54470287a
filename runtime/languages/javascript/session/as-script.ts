import { getLineInfo, parse, type Node, type Position } from 'acorn';
import { keys } from '../captured.ts';
import { IMPORT, META } from './session-globals.ts';

/** The parts of a syntax tree that this file uses. */
interface ModuleNode extends Node {
  source?: { raw: string } | null;
  directive?: string;
  attributes?: { key: Named; value: { raw: string } }[];
  specifiers?: Specifier[];
  declaration?: Node | null;
  body?: ModuleNode[];
}

interface Specifier extends Node {
  local: Named;
  imported?: Named;
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

/** Code in the form that the interpreter evaluates. */
export interface Script {
  text: string;
  /** A syntax error of the code as a module; the interpreter has no message for it. */
  fault?: SyntaxFault;
}

/** A syntax error with its place, counted from 1. */
export interface SyntaxFault {
  message: string;
  line: number;
  column: number;
}

/**
 * Turns code of a module into a script, the only form that a running interpreter evaluates: imports become awaited calls before the rest, as in a
 * module, and exports become plain declarations or expressions. Lines stay in place. Code without imports and exports, and code that cannot be
 * parsed, stays unchanged. `cell` is the name of the code in stacks.
 */
export function asScript(code: string, cell: string): Script {
  if (!/\b(?:import|export)\b/.test(code)) return { text: code };
  let program: ModuleNode;
  try {
    program = parse(code, GRAMMAR) as ModuleNode;
  } catch (error) {
    return { text: code, fault: faultOf(error as SyntaxError & { loc: Position }) };
  }
  const changes: Change[] = [];
  const body = program.body ?? [];
  const first = body.find(({ type, directive }) => type !== 'ImportDeclaration' && directive === undefined);
  for (const statement of body) {
    const call = importOf(code, statement, cell);
    if (call === '') takeExport(code, statement, changes);
    else if (first === undefined || statement.start < first.start) changes.push(replace(code, statement, call));
    else changes.push({ start: first.start, end: first.start, text: call }, replace(code, statement, ';'));
  }
  takeExpressions(program, changes);
  return { text: apply(code, changes) };
}

/** The grammar of a script that may contain imports and exports; it may also export names of earlier code. */
const GRAMMAR = {
  ecmaVersion: 'latest',
  sourceType: 'script',
  allowHashBang: true,
  allowAwaitOutsideFunction: true,
  allowImportExportEverywhere: true,
} as const;

function faultOf({ message, loc }: SyntaxError & { loc: Position }): SyntaxFault {
  return { message: message.replace(/ \(\d+:\d+\)$/, ''), line: loc.line, column: loc.column + 1 };
}

/** Removes the export keyword. A semicolon stays, because the line above may end without one. */
function takeExport(code: string, node: ModuleNode, changes: Change[]): void {
  const { start, end, declaration } = node;
  if (node.type === 'ExportDefaultDeclaration' && declaration) {
    const isNamed = declaration.type.endsWith('Declaration') && (declaration as { id?: Node | null }).id !== null;
    changes.push(replace(code, { start, end: declaration.start }, isNamed ? '' : ';('));
    if (!isNamed) changes.push({ start: declaration.end, end, text: ');' });
  } else if (node.type === 'ExportNamedDeclaration') {
    changes.push(declaration ? replace(code, { start, end: declaration.start }, '') : replace(code, node, ';'));
  }
}

/** `import` in expressions: dynamic imports, and `import.meta`. */
function takeExpressions(node: unknown, changes: Change[]): void {
  if (typeof node !== 'object' || node === null) return;
  const { type, start, end } = node as ModuleNode;
  if (type === 'ImportExpression') changes.push({ start, end: start + 'import'.length, text: IMPORT });
  else if (type === 'MetaProperty' && (node as unknown as { meta: Named }).meta.name === 'import')
    return void changes.push({ start, end, text: META });
  for (const name of keys(node)) takeExpressions((node as Record<string, unknown>)[name], changes);
}

/** The call that replaces an import, or an export from another module; empty for any other statement. */
function importOf(code: string, node: ModuleNode, cell: string): string {
  const { type, source, attributes = [], specifiers = [] } = node;
  if (source === undefined || source === null) return '';
  let listed = '';
  for (const { key, value } of attributes) listed += `${textOf(key)}: ${value.raw}, `;
  let needed = '';
  let names = '';
  let whole: string | undefined;
  for (const specifier of specifiers) {
    if (specifier.type === 'ImportNamespaceSpecifier') whole = specifier.local.name;
    else {
      const name = textOf(exportedName(specifier));
      const { line, column } = getLineInfo(code, specifier.start);
      needed += `[${name}, '${cell}:${line}:${column + 1}'], `;
      names += `${name}: ${specifier.local.name}, `;
    }
  }
  const options = listed === '' ? 'undefined' : `{ with: { ${listed}} }`;
  const call = `await ${IMPORT}(${source.raw}, ${options}, [${needed}])`;
  if (type !== 'ImportDeclaration' || (whole === undefined && names === '')) return `${call};`;
  if (whole === undefined) return `const { ${names}} = ${call};`;
  return `const ${whole} = ${call}${names === '' ? '' : `, { ${names}} = ${whole}`};`;
}

/** The name under which the other module exports it. */
function exportedName({ type, local, imported }: Specifier): Named {
  if (type === 'ImportDefaultSpecifier') return { name: 'default' };
  return imported ?? local;
}

function textOf({ name, raw }: Named): string {
  return raw ?? `'${name}'`;
}

/** Replaces code by a text with the same number of lines. */
function replace(code: string, { start, end }: { start: number; end: number }, text: string): Change {
  return { start, end, text: text + '\n'.repeat(code.slice(start, end).split('\n').length - 1) };
}

function apply(code: string, changes: Change[]): string {
  let text = code;
  // From the end backwards; of changes at the same place the last first, so that imports stay in order.
  for (const { start, end, text: next } of changes.toReversed().toSorted((a, b) => b.start - a.start || b.end - a.end))
    text = text.slice(0, start) + next + text.slice(end);
  return text;
}
