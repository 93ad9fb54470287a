import { invalid } from './job-schema.ts';

/** Taken places in the working folder of a job. */
export interface TakenPlaces {
  /** File name of the program; undefined if it is elsewhere. */
  program: string | undefined;
  /** Whether files may lie in the output folder from the start. */
  fillsOutput: boolean;
}

/**
 * Refuses files that conflict with each other, with the program, or with the output folder.
 *
 * @throws SkillcellError `job.invalid`
 */
export function checkDestinations(destinations: readonly string[], taken: TakenPlaces): void {
  const fault = destinationFault(destinations, taken);
  if (fault !== undefined) throw invalid(fault);
}

/** The reason why the files conflict in a working folder; undefined if they do not. */
export function destinationFault(
  destinations: readonly string[],
  { program, fillsOutput }: TakenPlaces,
): string | undefined {
  const seen = new Set<string>();
  for (const destination of destinations) {
    if (seen.has(destination)) return `two files have one destination, got ${destination}`;
    if (program !== undefined && (destination === program || destination.startsWith(`${program}/`))) {
      return `files has the destination of the program itself, got ${program}`;
    }
    // Files in the output folder would count as output of the program.
    if (destination === 'out' || (destination.startsWith('out/') && !fillsOutput)) {
      return `files has a destination in the output folder, got ${destination}`;
    }
    seen.add(destination);
  }
  for (const destination of seen) {
    for (let cut = destination.indexOf('/'); cut > 0; cut = destination.indexOf('/', cut + 1)) {
      const folder = destination.slice(0, cut);
      if (seen.has(folder)) return `a destination is both a file and a folder, got ${folder}`;
    }
  }
  return undefined;
}
