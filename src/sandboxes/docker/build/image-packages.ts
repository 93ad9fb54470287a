import { languages } from '../../../languages/languages.ts';
import type { ImageFlavor } from '../image-flavor.ts';

/**
 * Data that programs of every language look up: host names, media types, services, time zones. The engine empties /etc/hosts of a container
 * without a network, so a module of the C library must resolve `localhost`.
 */
const SURROUNDINGS = ['libnss-myhostname', 'media-types', 'netbase', 'tzdata'];

/** Clients of a network, besides those of the languages. */
const CLIENTS = ['ca-certificates', 'curl', 'git', 'npm', 'python3-pip', 'python3-requests'];

/** The Debian packages in an image of a flavor. */
export function imagePackages(flavor: ImageFlavor): string[] {
  const flavors: ImageFlavor[] = flavor === 'slim' ? ['slim'] : ['slim', flavor];
  const names = flavors.flatMap((name) => languages().flatMap(({ imagePackages }) => imagePackages[name] ?? []));
  return [...new Set([...SURROUNDINGS, ...names, ...(flavor === 'network' ? CLIENTS : [])])];
}
