import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript-5.9';

/** A regular expression of the project's sources. */
export interface Expression {
  /** Path below the root. */
  file: string;
  /** Counts from 1. */
  line: number;
  /** Absent if a part of it is unknown until the program runs. */
  pattern?: { source: string; flags: string };
  /** Its source text. */
  written: string;
}

/**
 * Finds the regular expressions of all sources below `src/` and `runtime/`: literals, and calls of `RegExp` with constant texts, including constants
 * of other files.
 *
 * @param root the repository
 */
export function findExpressions(root: string): Expression[] {
  const files = ['src', 'runtime']
    .filter((name) => existsSync(join(root, name)))
    .flatMap((name) => sourceFiles(root, name));
  const sources = new Map<string, ts.SourceFile>();
  const sourceOf = (file: string): ts.SourceFile => {
    let source = sources.get(file);
    if (source === undefined) {
      const text = readFileSync(join(root, file), 'utf8');
      sources.set(file, (source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)));
    }
    return source;
  };
  const found: Expression[] = [];
  for (const file of files) {
    const source = sourceOf(file);
    const visit = (node: ts.Node): void => {
      const pattern = patternOf(node, source, sourceOf);
      if (pattern !== undefined) {
        const line = source.getLineAndCharacterOfPosition(node.getStart()).line + 1;
        found.push({ file, line, written: node.getText(), ...(pattern === 'unknown' ? {} : { pattern }) });
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return found;
}

type SourceOf = (file: string) => ts.SourceFile;

function patternOf(
  node: ts.Node,
  source: ts.SourceFile,
  sourceOf: SourceOf,
): { source: string; flags: string } | 'unknown' | undefined {
  if (ts.isRegularExpressionLiteral(node)) return literalParts(node.text);
  if (!(ts.isNewExpression(node) || ts.isCallExpression(node)) || node.expression.getText() !== 'RegExp')
    return undefined;
  const [first, second] = node.arguments ?? [];
  const text = first === undefined ? undefined : constantText(first, source, sourceOf);
  const flags = second === undefined ? '' : constantText(second, source, sourceOf);
  return text === undefined || flags === undefined ? 'unknown' : { source: text, flags };
}

function literalParts(text: string): { source: string; flags: string } {
  const end = text.lastIndexOf('/');
  return { source: text.slice(1, end), flags: text.slice(end + 1) };
}

/** The constant text of an expression, or undefined. */
function constantText(node: ts.Expression, source: ts.SourceFile, sourceOf: SourceOf): string | undefined {
  const textOf = (each: ts.Expression): string | undefined => constantText(each, source, sourceOf);
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isParenthesizedExpression(node)) return textOf(node.expression);
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    const [left, right] = [textOf(node.left), textOf(node.right)];
    return left === undefined || right === undefined ? undefined : left + right;
  }
  if (ts.isTemplateExpression(node)) {
    const parts = node.templateSpans.map(({ expression, literal }) => {
      const part = textOf(expression);
      return part === undefined ? undefined : part + literal.text;
    });
    return parts.includes(undefined) ? undefined : node.head.text + parts.join('');
  }
  if (ts.isPropertyAccessExpression(node) && node.name.text === 'source') {
    const value = ts.isIdentifier(node.expression)
      ? constantOf(node.expression.text, source, sourceOf)?.value
      : undefined;
    return value !== undefined && ts.isRegularExpressionLiteral(value) ? literalParts(value.text).source : undefined;
  }
  if (!ts.isIdentifier(node)) return undefined;
  const constant = constantOf(node.text, source, sourceOf);
  return constant === undefined ? undefined : constantText(constant.value, constant.source, sourceOf);
}

/** The value of a constant of a file, which may be imported from another file. */
function constantOf(
  name: string,
  source: ts.SourceFile,
  sourceOf: SourceOf,
): { value: ts.Expression; source: ts.SourceFile } | undefined {
  for (const statement of source.statements) {
    if (ts.isVariableStatement(statement) && (statement.declarationList.flags & ts.NodeFlags.Const) !== 0) {
      const declared = statement.declarationList.declarations.find((each) => each.name.getText() === name);
      if (declared?.initializer !== undefined) return { value: declared.initializer, source };
    }
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) continue;
    const { text: specifier } = statement.moduleSpecifier;
    const names = statement.importClause?.namedBindings;
    if (names === undefined || !ts.isNamedImports(names) || !specifier.startsWith('.')) continue;
    const imported = names.elements.find((each) => each.name.text === name);
    if (imported === undefined) continue;
    const file = relative('/', resolve('/', dirname(source.fileName), specifier));
    return constantOf((imported.propertyName ?? imported.name).text, sourceOf(file), sourceOf);
  }
  return undefined;
}

function sourceFiles(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.[cm]?[jt]s$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .toSorted();
}
