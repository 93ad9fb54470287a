import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import ts from 'typescript-5.9';
import { ensureRuntime, RUNNER_CONTRACT } from '../../src/index.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

const MAIN = 'src/index.ts';
/** Entries that can be imported without the main entry. */
const ALONE = [MAIN, 'src/skills/index.ts'];

/**
 * Types of this project that the exports of an entry refer to, but that neither this entry nor the main one exports. Callers cannot name such a type.
 */
function unexported(entry: string): string[] {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile) as { config: object };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const program = ts.createProgram([join(root, entry), join(root, MAIN)], { ...options, noEmit: true });
  const checker = program.getTypeChecker();
  const exportsOf = (path: string): ts.Symbol[] => {
    const source = program.getSourceFile(join(root, path));
    const module = source === undefined ? undefined : checker.getSymbolAtLocation(source);
    if (module === undefined) throw new Error(`Cannot read the exports: there is no module, got ${path}.`);
    return checker.getExportsOfModule(module).map(resolved);
  };
  const resolved = (symbol: ts.Symbol): ts.Symbol =>
    (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol);
  const own = exportsOf(entry);
  const exported = new Set([...own, ...(ALONE.includes(entry) ? [] : exportsOf(MAIN))]);
  const seen = new Set<ts.Symbol>();
  const missing: string[] = [];
  const visit = (symbol: ts.Symbol): void => {
    const path = relative(root, symbol.declarations?.[0]?.getSourceFile().fileName ?? '..');
    if (seen.has(symbol) || !path.startsWith('src/') || (symbol.flags & ts.SymbolFlags.TypeParameter) !== 0) return;
    seen.add(symbol);
    if (!exported.has(symbol)) missing.push(`${symbol.name} of ${path}`);
    for (const declaration of symbol.declarations ?? []) ts.forEachChild(declaration, walk);
  };
  /** Visits the parts that a declaration file shows: no bodies and no private members. */
  const walk = (node: ts.Node): void => {
    if (ts.isBlock(node) || (ts.isClassElement(node) && node.name !== undefined && ts.isPrivateIdentifier(node.name)))
      return;
    if (ts.isTypeReferenceNode(node)) visit(resolved(named(checker, node.typeName)));
    if (ts.isExpressionWithTypeArguments(node)) visit(resolved(named(checker, node.expression)));
    ts.forEachChild(node, walk);
  };
  own.forEach(visit);
  return missing.toSorted();
}

function named(checker: ts.TypeChecker, node: ts.Node): ts.Symbol {
  const symbol = checker.getSymbolAtLocation(node);
  if (symbol === undefined) throw new Error(`Cannot read the exports: the name is unknown, got ${node.getText()}.`);
  return symbol;
}

it.each([...ALONE, 'src/ai/index.ts'])(
  '%s exports every type that its exports refer to',
  (entry) => {
    expect(unexported(entry)).toEqual([]);
  },
  60_000,
);

it('the values of the runner contract are exported', async () => {
  expect(RUNNER_CONTRACT).toBe(1);
  expect((await ensureRuntime()).files).toHaveProperty(['entry.cjs']);
});
