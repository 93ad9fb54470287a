import { lstatSync, mkdirSync, readdirSync, readlinkSync, realpathSync, statSync, unlinkSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { ProgramEntry } from '../../../../src/protocol/messages/session-messages.ts';
import type { FileMessage } from './file-message.ts';
import { Refused } from './refused.ts';
import { readRegular, replaceRegular, type Replacement } from './regular-file.ts';

/** More links than this are a circle. */
const MOST_LINKS = 40;

/** Operations that reach files as a program of the workspace does: by any path, and through links. */
export function* readAsProgram({ op, path, maxBytes, folder }: FileMessage): Generator<Uint8Array> {
  const place = resolve(folder, path);
  if (op === 'read') yield* readRegular(place, maxBytes, true);
  else if (op === 'stat') yield asJson(statusOf(place));
  else if (op === 'entries') yield asJson(entriesOf(place));
  else unlink(place);
}

/** Begins new content of a file, and creates its folders. */
export function writeAsProgram({ folder, path }: FileMessage): Replacement {
  const place = resolve(folder, path);
  mkdirSync(dirname(place), { recursive: true });
  return replaceRegular(behindLinks(place));
}

function statusOf(place: string): { kind: ProgramEntry['kind']; bytes: number } {
  const status = statSync(place);
  return { kind: kindOf(status), bytes: status.size };
}

function entriesOf(place: string): ProgramEntry[] {
  if (!statSync(place).isDirectory()) throw new Refused('it is no folder');
  return readdirSync(place, { withFileTypes: true }).map((entry) => ({
    name: entry.name,
    kind: entry.isSymbolicLink() ? 'link' : kindOf(entry),
  }));
}

function unlink(place: string): void {
  if (lstatSync(place).isDirectory()) throw new Refused('it is a folder');
  unlinkSync(place);
}

/** The target of links, even if it does not exist. A circle of links stays a link, which is refused. */
function behindLinks(place: string): string {
  let end = place;
  for (let count = 0; count < MOST_LINKS; count += 1) {
    if (lstatSync(end, { throwIfNoEntry: false })?.isSymbolicLink() !== true) break;
    end = resolve(realpathSync(dirname(end)), readlinkSync(end));
  }
  return end;
}

function kindOf(entry: { isFile(): boolean; isDirectory(): boolean }): 'file' | 'folder' | 'other' {
  return entry.isFile() ? 'file' : entry.isDirectory() ? 'folder' : 'other';
}

function asJson(value: object): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}
