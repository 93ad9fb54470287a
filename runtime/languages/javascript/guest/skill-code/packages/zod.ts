/** The `zod` that toolsets of skills import. */
export * from 'zod';
export { default } from 'zod';
