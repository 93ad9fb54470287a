/// <reference types="node" preserve="true" />
import '../contracts/require-node.ts';

export { createSandboxTools } from './create-sandbox-tools.ts';
export type { SandboxToolsOptions } from './sandbox-tools-options.ts';
export type * from './sandbox-tools.ts';
export { createSandboxSession, type SandboxSessionOptions } from './sandbox-session/create-sandbox-session.ts';
