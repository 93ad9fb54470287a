import { findLanguage, languageNames } from '../../languages/languages.ts';
import type { Session, SessionFile } from '../../contracts/jobs/session.ts';
import type { CellReader } from './read-cells.ts';

const HELP = [
  '.language NAME  go on in another language, in the same workspace',
  '.files          list the workspace',
  '.exit           end the session (or Ctrl-D)',
  'Ctrl-C stops a run, or discards the typed lines. An empty line ends a block.',
];

/** Runs a dot command; returns false for any other line. */
export async function dotCommand(
  line: string,
  cells: CellReader,
  session: Session,
  note: (line: string) => Promise<void>,
): Promise<boolean> {
  if (line.includes('\n')) return false;
  const [name = '', argument] = line.trim().split(/\s+/);
  const commands: Record<string, () => Promise<void>> = {
    '.help': async () => {
      for (const row of HELP) await note(row);
    },
    '.exit': async () => cells.close(),
    '.files': async () => {
      for (const { path, kind, bytes, fault } of await session.files.list())
        await note(`${path}${kind === 'folder' ? '/' : ''}${shownSize(kind, bytes, fault)}`);
    },
    '.language': async () => {
      if (argument !== undefined && findLanguage(argument)?.session !== undefined) cells.language = argument;
      else await note(`.language takes one of ${languageNames().join(', ')}`);
    },
  };
  if (!Object.hasOwn(commands, name)) return false;
  await commands[name]?.();
  return true;
}

function shownSize(kind: SessionFile['kind'], bytes: number, fault: string | undefined): string {
  if (fault !== undefined) return ` (${fault})`;
  return kind === 'file' ? ` (${bytes} bytes)` : kind === 'other' ? ' (no regular file)' : '';
}
