import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { configure, Uint8ArrayReader, Uint8ArrayWriter, ZipReader } from '@zip.js/zip.js/lib/zip-core-native.js';
import { apiPath, send } from '../shared/api.ts';
import { textOf } from '../shared/format.ts';

// Its workers would be scripts of their own; the archives are small, and the service has checked them.
configure({ useWebWorkers: false });

const BLOCK = 512;

/** The files of a version by their paths below the skill's folder. */
export type SkillFiles = ReadonlyMap<string, Uint8Array>;

/** Downloads a version of a skill, and unpacks it. A version never changes. */
export function useFiles(id: string, version: number | undefined): UseQueryResult<SkillFiles> {
  return useQuery({
    queryKey: ['files', id, version],
    enabled: version !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => {
      const answer = await send(apiPath(`/skills/${encodeURIComponent(id)}/download`, { version }));
      const bytes = new Uint8Array(await answer.arrayBuffer());
      const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
      return belowSkill(isGzip ? await readTar(bytes) : await readZip(bytes));
    },
  });
}

/** The text of a file; a line about it for other bytes. */
export function shownText(bytes: Uint8Array | undefined): string {
  if (bytes === undefined) return '';
  return textOf(bytes) ?? `(${bytes.length} bytes that are no text)`;
}

async function readZip(bytes: Uint8Array): Promise<Map<string, Uint8Array>> {
  const reader = new ZipReader(new Uint8ArrayReader(bytes));
  const files = new Map<string, Uint8Array>();
  for (const entry of await reader.getEntries()) {
    if (!entry.directory) files.set(entry.filename, await entry.getData(new Uint8ArrayWriter()));
  }
  return files;
}

/** Reads `tar.gz`: plain headers, and the long names of pax. */
async function readTar(gzip: Uint8Array): Promise<Map<string, Uint8Array>> {
  const unpacked = new Blob([gzip as BlobPart]).stream().pipeThrough(new DecompressionStream('gzip'));
  const bytes = new Uint8Array(await new Response(unpacked).arrayBuffer());
  const files = new Map<string, Uint8Array>();
  let longName: string | undefined;
  for (let at = 0; at + BLOCK <= bytes.length && bytes[at] !== 0;) {
    const text = (from: number, to: number): string =>
      new TextDecoder().decode(bytes.subarray(at + from, at + to)).replace(/\0[^]*$/, '');
    const size = Number.parseInt(text(124, 136), 8) || 0;
    const content = bytes.subarray(at + BLOCK, at + BLOCK + size);
    const kind = text(156, 157);
    if (kind === 'x') longName = /\bpath=([^\n]*)/.exec(new TextDecoder().decode(content))?.[1];
    else {
      const folder = text(257, 262) === 'ustar' ? text(345, 500) : '';
      if (kind === '' || kind === '0')
        files.set(longName ?? `${folder === '' ? '' : `${folder}/`}${text(0, 100)}`, content);
      longName = undefined;
    }
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return files;
}

/** Names without the folder that holds SKILL.md. */
function belowSkill(files: ReadonlyMap<string, Uint8Array>): SkillFiles {
  const skillFiles = [...files.keys()].filter((path) => /(?:^|\/)skill\.md$/i.test(path));
  const [top = ''] = skillFiles.toSorted((one, other) => one.split('/').length - other.split('/').length);
  const folder = top.slice(0, top.lastIndexOf('/') + 1);
  return new Map(
    [...files].filter(([path]) => path.startsWith(folder)).map(([path, bytes]) => [path.slice(folder.length), bytes]),
  );
}
