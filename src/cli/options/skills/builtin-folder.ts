import { fileURLToPath } from 'node:url';

/** Absolute path of the skills that come with the package. */
export const BUILTIN_FOLDER: string = fileURLToPath(new URL('../../../../skills', import.meta.url));
