import type { FoundInFile } from '../scan-finding.ts';
import type { ScannedFile } from '../scanned-file.ts';

/** Names of parts that hold macros. They are readable, because ZIP directories and the names in older documents are not compressed. */
const MACROS = ['vbaProject.bin', '_VBA_PROJECT', 'V\0B\0A\0', 'macrosheets/'];
const CODE_ENDINGS: ReadonlySet<string> = new Set(
  '.pyc .pyo .pyd .class .jar .war .so .dll .dylib .exe .node .wasm .o .a .lib .com .scr .msi .deb .rpm .apk .appimage'.split(
    ' ',
  ),
);
const ARCHIVE_ENDINGS: ReadonlySet<string> = new Set(
  '.zip .tar .gz .tgz .bz2 .xz .zst .7z .rar .whl .egg .gem .nupkg .skill .asar .iso .dmg .cab'.split(' '),
);

/** Finds files whose behaviour people cannot read. */
export function findBinaries(file: ScannedFile, paths: ReadonlySet<string>): FoundInFile[] {
  const { binary, ending, isText, bytes } = file;
  if (isText || bytes.length === 0) return [];
  const code = CODE_ENDINGS.has(ending) || binary?.kind === 'code' || binary?.kind === 'bytecode';
  if (code) {
    const noun = binary === undefined || binary.kind === 'archive' ? `a file of the kind ${ending}` : binary.name;
    return hasSource(file, paths)
      ? [
          {
            code: 'scan.unknown-bytes',
            message: `This is ${noun}; it may differ from the source beside it.`,
          },
        ]
      : [{ code: 'scan.binary-code', message: `This is ${noun}, and its source is not in the skill.` }];
  }
  if (binary?.kind === 'office') {
    const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    const macro = MACROS.some((name) => content.includes(name, 0, 'latin1'));
    return macro
      ? [{ code: 'scan.office-macro', message: `This is ${binary.name} with macros.` }]
      : [{ code: 'scan.office', message: `This is ${binary.name}; its content was not scanned.` }];
  }
  if (binary?.kind === 'archive' || ARCHIVE_ENDINGS.has(ending))
    return [{ code: 'scan.archive', message: `This is ${binary?.name ?? 'an archive'}; its content was not scanned.` }];
  if (binary === undefined)
    return [{ code: 'scan.unknown-bytes', message: 'This is neither text nor a known format.' }];
  return [];
}

/** Whether the skill holds the source: `a.py` for `__pycache__/a.cpython-312.pyc`, `A.java` for `A.class`, `a.wat` for `a.wasm`. */
function hasSource({ path, ending }: ScannedFile, paths: ReadonlySet<string>): boolean {
  const sources = SOURCES[ending];
  if (sources === undefined) return false;
  const base = path.slice(0, -ending.length);
  const beside = base
    .replace(/(^|\/)__pycache__\/([^/]+)$/, '$1$2')
    .replace(/\.(?:cpython|pypy)-?\d{2,4}(?:\.opt-\d)?$/, '');
  return sources.some((source) => paths.has(base + source) || paths.has(beside + source));
}

const SOURCES: Readonly<Record<string, readonly string[]>> = {
  '.pyc': ['.py'],
  '.pyo': ['.py'],
  '.class': ['.java', '.kt', '.scala'],
  '.wasm': ['.wat', '.c', '.rs', '.ts', '.zig'],
  '.so': ['.c', '.cc', '.cpp', '.rs', '.pyx'],
  '.node': ['.cc', '.cpp', '.c', '.rs'],
  '.o': ['.c', '.cc', '.cpp'],
};
