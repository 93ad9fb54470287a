/// <reference types="node" preserve="true" />
import '../contracts/require-node.ts';

export { connectService } from './connect-service.ts';
export { loadSkillTool, type LoadSkillToolOptions } from './load-skill-tool.ts';
export type * from './service-client.ts';
