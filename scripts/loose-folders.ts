/** Folders of `runtime/` whose files stay files of their own in the bundle. */
export const LOOSE_FOLDERS: readonly string[] = ['etc', 'launch'];
