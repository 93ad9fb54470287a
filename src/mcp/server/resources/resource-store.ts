/** A resource that a client may read by its address. */
export interface KeptResource {
  mimeType: string;
  content: string | Uint8Array;
}

/** Parts that were too large for results, kept until newer ones need the room. */
export interface ResourceStore {
  keep(uri: string, resource: KeptResource): void;
  find(uri: string): KeptResource | undefined;
}

/** Creates an empty store that holds at most `maxBytes`; the oldest resources are dropped first. */
export function createResourceStore(maxBytes: number): ResourceStore {
  const resources = new Map<string, KeptResource>();
  let bytes = 0;
  const drop = (uri: string): void => {
    bytes -= sizeOf(resources.get(uri));
    resources.delete(uri);
  };
  return {
    keep(uri, resource) {
      drop(uri);
      resources.set(uri, resource);
      bytes += sizeOf(resource);
      for (const oldest of resources.keys()) {
        if (bytes <= maxBytes) break;
        drop(oldest);
      }
    },
    find: (uri) => resources.get(uri),
  };
}

function sizeOf(resource: KeptResource | undefined): number {
  return resource === undefined ? 0 : Buffer.byteLength(resource.content);
}
