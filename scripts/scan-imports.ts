/** One import of a source file. */
export interface ScannedImport {
  specifier: string;
  /** Counts from 1. */
  line: number;
  kind: 'static' | 'type' | 'dynamic' | 'require';
}

// A comment up to its end, or a quoted text; comments are removed, texts stay.
const COMMENT_OR_TEXT = /\/\*[^]*?\*\/|\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g;
const STATEMENT =
  /^[ \t]*(?:import|export)\b(?<type>\s+type\b)?[^'"`;()]*?(?:\bfrom\s*)?(?<quote>['"])(?<specifier>[^'"\n]+)\k<quote>/gm;
const CALL = /\b(?<callee>import|require)\(\s*(?<quote>['"])(?<specifier>[^'"\n]+)\k<quote>/g;
const TYPE_CALL = /\b(?:typeof\s+|[:<|&]\s*)$/;

/** Finds the imports of a TypeScript or JavaScript file: statements, re-exports, `import()`, `require()`. */
export function scanImports(source: string): ScannedImport[] {
  const code = source.replace(COMMENT_OR_TEXT, (match) =>
    match.startsWith('/') ? match.replace(/[^\n]/g, ' ') : match,
  );
  const found: ScannedImport[] = [];
  for (const match of code.matchAll(STATEMENT)) {
    const { type, specifier = '' } = match.groups ?? {};
    // A name between the keyword and the text needs `from`; without it the text does not belong to an import.
    if (!/^\s*import\s*['"]|\bfrom\s*['"]/.test(match[0])) continue;
    found.push({
      specifier,
      line: lineAt(code, match.index + match[0].length),
      kind: type === undefined ? 'static' : 'type',
    });
  }
  for (const match of code.matchAll(CALL)) {
    const { callee, specifier = '' } = match.groups ?? {};
    const isType = callee === 'import' && TYPE_CALL.test(code.slice(0, match.index));
    found.push({
      specifier,
      line: lineAt(code, match.index),
      kind: isType ? 'type' : callee === 'import' ? 'dynamic' : 'require',
    });
  }
  return found;
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}
