/** File name endings of skill archives, by archive form. */
const ENDINGS = { zip: ['.zip', '.skill'], tar: ['.tar.gz', '.tgz'] } as const;

/** A form of archive. */
export type ArchiveForm = keyof typeof ENDINGS;

/** All endings. */
export const ARCHIVE_ENDINGS: readonly string[] = Object.values(ENDINGS).flat();

/** The archive form of a file name, or undefined for any other name. The bytes decide the real format. */
export function archiveForm(name: string): ArchiveForm | undefined {
  const forms: readonly ArchiveForm[] = ['zip', 'tar'];
  return forms.find((form) => ENDINGS[form].some((ending) => endsWith(name, ending)));
}

/** The name of an archive without its ending; any other name unchanged. */
export function withoutArchiveEnding(name: string): string {
  const ending = ARCHIVE_ENDINGS.find((one) => endsWith(name, one));
  return ending === undefined ? name : name.slice(0, -ending.length);
}

function endsWith(name: string, ending: string): boolean {
  return name.slice(-ending.length).toLowerCase() === ending;
}
