import { inPackage } from '../../../contracts/package-root.ts';

/** Absolute path of the skills that come with the package. */
export const BUILTIN_FOLDER: string = inPackage('skills');
