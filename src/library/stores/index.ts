/// <reference types="node" preserve="true" />
import '../../contracts/require-node.ts';

export type * from '../../contracts/skills/store.ts';
export { createArchiveStore, type ArchiveStoreOptions } from './archive/archive-store.ts';
export type { ArchiveAddress } from './archive/archive-at-address.ts';
export { openTreeCache, type TreeCache, type TreeCacheOptions } from './cache/tree-cache.ts';
export { createDirectoryStore, type DirectoryStoreOptions } from './directory/directory-store.ts';
export { createGitStore, type GitStore, type GitStoreOptions } from './git/git-store.ts';
export { createMcpStore, type McpStoreOptions } from './mcp/mcp-store.ts';
export { createS3Store, type S3StoreOptions, type WritableStore } from './s3/s3-store.ts';
export { createWebStore, type WebStoreOptions } from './web/web-store.ts';
