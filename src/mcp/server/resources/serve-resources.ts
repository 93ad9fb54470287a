import {
  type McpServer,
  type ReadResourceResult,
  ResourceNotFoundError,
  ResourceTemplate,
} from '@modelcontextprotocol/server';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import type { Orchestrator } from '../../../jobs/orchestrator.ts';
import { mediaType } from '../../../jobs/result/media-type.ts';
import type { KeptResource, ResourceStore } from './resource-store.ts';
import { artifactOf, RESOURCES } from './resource-uri.ts';

/** Lets clients read the resources that results link to. None is listed: a client has each address from a result. */
export function serveResources(server: McpServer, orchestrator: Orchestrator, store: ResourceStore): void {
  const template = new ResourceTemplate(`${RESOURCES}{+path}`, { list: undefined });
  const about = {
    title: 'Parts of results',
    description: 'Artifacts, and outputs and values that are too large for a result.',
  };
  server.registerResource('results', template, about, async ({ href }): Promise<ReadResourceResult> => {
    const found = store.find(href) ?? (await findArtifact(href, orchestrator));
    if (found === undefined)
      throw new ResourceNotFoundError(href, `Cannot read the resource: nothing is kept at this address, got ${href}.`);
    return { contents: [contentsOf(href, found)] };
  });
}

async function findArtifact(href: string, orchestrator: Orchestrator): Promise<KeptResource | undefined> {
  const named = artifactOf(href);
  if (named === undefined) return undefined;
  try {
    const content = await orchestrator.readArtifact(named, named.path);
    return { mimeType: mediaType(named.path), content };
  } catch (error) {
    // Evicted, or never there: for a client both are an empty address.
    if (SkillcellError.isInstance(error)) return undefined;
    throw error;
  }
}

function contentsOf(uri: string, { mimeType, content }: KeptResource): ReadResourceResult['contents'][number] {
  if (typeof content === 'string') return { uri, mimeType, text: content };
  const text = textOf(content, mimeType);
  if (text !== undefined) return { uri, mimeType, text };
  // A view, since a copy of the bytes may be as large as a file.
  const { buffer, byteOffset, byteLength } = content;
  return { uri, mimeType, blob: Buffer.from(buffer, byteOffset, byteLength).toString('base64') };
}

/** Bytes as text, if they are text. */
function textOf(bytes: Uint8Array, mimeType: string): string | undefined {
  if (!/^text\/|[/+](?:json|xml|yaml|javascript)$/.test(mimeType)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // Not UTF-8 in spite of the media type: as bytes nothing is lost.
    return undefined;
  }
}
