import type { FoundInFile } from '../scan-finding.ts';
import type { ScannedFile } from '../scanned-file.ts';

/** Names of parts that hold macros; the directory of a ZIP archive is not compressed, nor are names in older documents. */
const MACROS = ['vbaProject.bin', '_VBA_PROJECT', 'V\0B\0A\0', 'macrosheets/'];
const CODE_ENDINGS: ReadonlySet<string> = new Set(
  '.pyc .pyo .pyd .class .jar .war .so .dll .dylib .exe .node .wasm .o .a .lib .com .scr .msi .deb .rpm .apk .appimage'.split(
    ' ',
  ),
);
const ARCHIVE_ENDINGS: ReadonlySet<string> = new Set(
  '.zip .tar .gz .tgz .bz2 .xz .zst .7z .rar .whl .egg .gem .nupkg .skill .asar .iso .dmg .cab'.split(' '),
);

/** Finds files of which nobody can read what they do. */
export function findBinaries(file: ScannedFile, paths: ReadonlySet<string>): FoundInFile[] {
  const { binary, ending, isText, bytes } = file;
  if (isText || bytes.length === 0) return [];
  const code = CODE_ENDINGS.has(ending) || binary?.kind === 'code' || binary?.kind === 'bytecode';
  if (code) {
    const what = binary === undefined || binary.kind === 'archive' ? `a file of the kind ${ending}` : binary.name;
    return hasSource(file, paths)
      ? [
          {
            code: 'scan.unknown-bytes',
            message: `This is ${what}; whether it was made from the source beside it is not known.`,
          },
        ]
      : [{ code: 'scan.binary-code', message: `This is ${what}, and its source is not in the skill.` }];
  }
  if (binary?.kind === 'office') {
    const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    const macro = MACROS.some((name) => content.includes(name, 0, 'latin1'));
    return macro
      ? [{ code: 'scan.office-macro', message: `This is ${binary.name} with macros.` }]
      : [{ code: 'scan.office', message: `This is ${binary.name}; what is in it was not looked at.` }];
  }
  if (binary?.kind === 'archive' || ARCHIVE_ENDINGS.has(ending))
    return [
      { code: 'scan.archive', message: `This is ${binary?.name ?? 'an archive'}; what is in it was not looked at.` },
    ];
  if (binary === undefined)
    return [{ code: 'scan.unknown-bytes', message: 'This is neither text nor of a kind that is known.' }];
  return [];
}

/** `__pycache__/a.cpython-312.pyc` is made from `a.py`, `A.class` from `A.java`, `a.wasm` from `a.wat`. */
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
