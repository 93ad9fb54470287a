import type * as Sdk from '@modelcontextprotocol/client';

/** The package of MCP clients, which loads at first use. */
export type LoadedSdk = typeof Sdk;

/** Loads the package. */
export async function loadSdk(): Promise<LoadedSdk> {
  return await import('@modelcontextprotocol/client');
}
