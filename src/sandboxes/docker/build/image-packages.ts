import { languages } from '../../../languages/languages.ts';
import type { ImageFlavor } from '../image-flavor.ts';

/**
 * What programs of every language ask the C library and their own for: host names, media types, services, time zones. The engine empties
 * /etc/hosts of a container without a network, so that `localhost` has to come from a module of the library.
 */
const SURROUNDINGS = ['libnss-myhostname', 'media-types', 'netbase', 'tzdata'];

/** The Debian packages that programs need in an image of a flavor. */
export function imagePackages(flavor: ImageFlavor): string[] {
  const flavors: ImageFlavor[] = flavor === 'slim' ? ['slim'] : ['slim', flavor];
  const names = flavors.flatMap((name) => languages().flatMap(({ imagePackages }) => imagePackages[name] ?? []));
  return [...new Set([...SURROUNDINGS, ...names])];
}
