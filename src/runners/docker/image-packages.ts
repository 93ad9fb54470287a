import { languages } from '../../languages/languages.ts';
import type { ImageFlavor } from './image-flavor.ts';

/** The Debian packages that the languages need in an image of a flavor. */
export function imagePackages(flavor: ImageFlavor): string[] {
  const flavors: ImageFlavor[] = flavor === 'slim' ? ['slim'] : ['slim', flavor];
  const names = flavors.flatMap((name) => languages().flatMap(({ imagePackages }) => imagePackages[name] ?? []));
  return [...new Set(names)];
}
