/** How names of archives of skills end, by the form that they promise. This is where it is written down. */
const ENDINGS = { zip: ['.zip', '.skill'], tar: ['.tar.gz', '.tgz'] } as const;

/** A form of archives. */
export type ArchiveForm = keyof typeof ENDINGS;

/** All of them. */
export const ARCHIVE_ENDINGS: readonly string[] = Object.values(ENDINGS).flat();

/** The form that a name promises; undefined for one that is no archive's. What an archive is, its bytes say. */
export function archiveForm(name: string): ArchiveForm | undefined {
  const forms: readonly ArchiveForm[] = ['zip', 'tar'];
  return forms.find((form) => ENDINGS[form].some((ending) => endsWith(name, ending)));
}

/** The name of an archive without what says that it is one; any other name as it is. */
export function withoutArchiveEnding(name: string): string {
  const ending = ARCHIVE_ENDINGS.find((one) => endsWith(name, one));
  return ending === undefined ? name : name.slice(0, -ending.length);
}

function endsWith(name: string, ending: string): boolean {
  return name.slice(-ending.length).toLowerCase() === ending;
}
