/** Flavor of an image: `slim` has the interpreters, `data` also packages for data analysis, `network` also curl, git, npm and pip. */
export type ImageFlavor = 'slim' | 'data' | 'network';
/** All flavors. */
export const IMAGE_FLAVORS: readonly ['slim', 'data', 'network'] = ['slim', 'data', 'network'];
