import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A page of `docs/` that a script generates. */
export interface GeneratedPage {
  /** Absolute path of the file. */
  path: string;
  page: string;
  /** Only compare, and fail the process if they differ. */
  check: boolean;
}

/** Writes a generated page, or reports on stderr that the page in the repository differs. */
export function writeGenerated({ path, page, check }: GeneratedPage): void {
  if (!check) writeFileSync(path, page);
  else if (!existsSync(path) || readFileSync(path, 'utf8') !== page) {
    const shown = relative(fileURLToPath(new URL('..', import.meta.url)), path).replaceAll('\\', '/');
    const script = basename(process.argv[1] ?? '');
    process.stderr.write(`${shown} differs from its source. Run \`node scripts/${script}\`.\n`);
    process.exitCode = 1;
  }
}
