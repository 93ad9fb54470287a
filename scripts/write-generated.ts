import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';

/** A page of `docs/` that a script makes. */
export interface GeneratedPage {
  /** Absolute path of the file. */
  path: string;
  page: string;
  /** Only compare, and fail the process when the two differ. */
  check: boolean;
}

/** Writes a generated page, or says on stderr that the one in the repository is another. */
export function writeGenerated({ path, page, check }: GeneratedPage): void {
  if (!check) writeFileSync(path, page);
  else if (!existsSync(path) || readFileSync(path, 'utf8') !== page) {
    const script = basename(process.argv[1] ?? '');
    process.stderr.write(`docs/${basename(path)} differs from its registry. Run \`node scripts/${script}\`.\n`);
    process.exitCode = 1;
  }
}
