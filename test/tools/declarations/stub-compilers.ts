import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const TSC = fileURLToPath(new URL('../../../node_modules/typescript/bin/tsc', import.meta.url));

/** Reads texts from its standard input and prints the fault of each; `names` prints the tree with all of its names and values. */
const PARSE = `
import ast, json, sys
for text in json.load(sys.stdin):
    try:
        tree = ast.parse(text)
        print(json.dumps({ "tree": ast.dump(tree) }))
    except Exception as error:
        print(json.dumps({ "fault": repr(error) }))
`;

/**
 * Compiles declarations, all in one program.
 *
 * @param texts each declares the module `skillcell`; here every one gets a module of its own
 * @returns the output of the compiler; empty if it accepts all texts
 */
export async function compileDeclarations(texts: readonly string[]): Promise<string> {
  const files = texts.map((text, at): [string, string] => [
    `${at}.d.ts`,
    text.replace("declare module 'skillcell'", `declare module 'skillcell-${at}'`),
  ]);
  return compile(Object.fromEntries(files));
}

/**
 * Compiles programs against one declaration of the module `skillcell`.
 *
 * @returns the names of the programs that the compiler refuses
 */
export async function refusedPrograms(declaration: string, programs: Record<string, string>): Promise<string[]> {
  const files = Object.entries(programs).map(([name, code]) => [
    `${name}.mts`,
    `import { tools } from 'skillcell';\n${code}\n`,
  ]);
  const said = await compile({
    'skillcell.d.ts': declaration,
    ...(Object.fromEntries(files) as Record<string, string>),
  });
  return Object.keys(programs).filter((name) => said.includes(`${name}.mts(`));
}

async function compile(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'stubs-'));
  try {
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    const flags = ['--noEmit', '--strict', '--target', 'es2023', '--module', 'nodenext', '--types', ''];
    const { stdout } = await run(process.execPath, [TSC, ...flags, ...Object.keys(files)], '', folder);
    return stdout;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/**
 * Parses stubs with Python's own parser.
 *
 * @param texts each a whole file
 * @returns for each text its tree as a text, or its fault
 */
export async function parsePython(texts: readonly string[]): Promise<{ tree?: string; fault?: string }[]> {
  const { stdout } = await run('/usr/bin/python3', ['-I', '-c', PARSE], JSON.stringify(texts), tmpdir());
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as { tree?: string; fault?: string });
}

/** Runs a program to its end, with any exit code. */
async function run(command: string, args: string[], input: string, cwd: string): Promise<{ stdout: string }> {
  return new Promise((resolve) => {
    const child = execFile(command, args, { cwd, maxBuffer: 256 * 1024 * 1024 }, (_, stdout, stderr) =>
      resolve({ stdout: stdout + stderr }),
    );
    child.stdin?.end(input);
  });
}
