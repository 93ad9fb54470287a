/** Flavor of an image: `slim` has the interpreters, `data` also packages for data analysis. */
export type ImageFlavor = 'slim' | 'data';
/** All flavors. */
export const IMAGE_FLAVORS: readonly ['slim', 'data'] = ['slim', 'data'];
