/// <reference types="node" preserve="true" />
import '../contracts/require-node.ts';

export { createS3Backend } from './create-s3-backend.ts';
export type * from './s3-backend.ts';
export type { S3BackendOptions } from './s3-backend-options.ts';
export { loadSkillTool, type LoadedSkillNote } from './load-skill-tool.ts';
export { skillsMiddleware, type SkillsState } from './skills-middleware.ts';
export type { S3Connection } from '../library/stores/s3/s3-options.ts';
