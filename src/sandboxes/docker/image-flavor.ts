/** Which programs an image brings: `slim` the interpreters, `data` packages for analysis as well. */
export type ImageFlavor = 'slim' | 'data';
/** All flavors. */
export const IMAGE_FLAVORS: readonly ['slim', 'data'] = ['slim', 'data'];
