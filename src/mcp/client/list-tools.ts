import type { Client, Tool } from '@modelcontextprotocol/client';
import { TransportFault } from './transport-fault.ts';

/** Of one server. */
const MAX_TOOLS = 1_000;
const MAX_PAGES = 100;
/** Of the JSON of all of them. */
const LIST_BYTES = 8 * 1024 * 1024;

/**
 * The tools that a server has, from all pages of its list.
 *
 * @param timeoutMs for each page
 * @throws TransportFault for a list without an end, or one that is too large
 */
export async function listTools(client: Client, timeoutMs: number): Promise<Tool[]> {
  if (client.getServerCapabilities()?.tools === undefined) return [];
  const all: Tool[] = [];
  const cursors = new Set<string>();
  let bytes = 0;
  for (let cursor: string | undefined; ;) {
    const page = await client.request(
      { method: 'tools/list', params: cursor === undefined ? {} : { cursor } },
      { timeout: timeoutMs },
    );
    all.push(...page.tools);
    bytes += JSON.stringify(page.tools).length;
    if (all.length > MAX_TOOLS) throw new TransportFault(`lists more than ${MAX_TOOLS} tools`);
    if (bytes > LIST_BYTES) throw new TransportFault(`lists tools of more than ${LIST_BYTES} bytes`);
    cursor = page.nextCursor;
    if (cursor === undefined) return all;
    if (cursors.has(cursor) || cursors.size === MAX_PAGES) throw new TransportFault('lists its tools without an end');
    cursors.add(cursor);
  }
}
