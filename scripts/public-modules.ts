import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript-5.9';

/** Source of each entry of the package, below the repository. */
const ENTRIES: Readonly<Record<string, string>> = {
  skillcell: 'src/index.ts',
  'skillcell/skills': 'src/skills/index.ts',
  'skillcell/ai': 'src/ai/index.ts',
  'skillcell/client': 'src/client/index.ts',
  'skillcell/backend': 'src/backend/index.ts',
  'skillcell/fleet': 'src/worker/index.ts',
  'skillcell/stores': 'src/library/stores/index.ts',
};

/** Exports of the package, with the types of the sources. */
export interface PublicModules {
  checker: ts.TypeChecker;
  /** The exported symbols by entry. Aliases are resolved. */
  exports: ReadonlyMap<string, readonly ts.Symbol[]>;
}

/** Reads the exports of every entry. */
export function publicModules(): PublicModules {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const files = Object.values(ENTRIES).map((file) => join(root, file));
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile) as { config: object };
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files }, ts.sys, root);
  const program = ts.createProgram(files, options);
  const checker = program.getTypeChecker();
  const resolved = (symbol: ts.Symbol): ts.Symbol =>
    symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const exported = Object.entries(ENTRIES).map(([entry, file]) => {
    const source = program.getSourceFile(join(root, file));
    const module = source && checker.getSymbolAtLocation(source);
    if (module === undefined) throw new Error(`${file} exports nothing`);
    return [entry, checker.getExportsOfModule(module).map(resolved)] as const;
  });
  return { checker, exports: new Map(exported) };
}
