/** Folders of `runtime/` whose files stay separate files in the bundle. */
export const LOOSE_FOLDERS: readonly string[] = ['etc', 'launch'];
