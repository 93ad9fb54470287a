/** Names of all variables that a program is given, but for those of its job. */
export const PROGRAM_VARIABLES: readonly string[] = [
  'HOME',
  'LANG',
  'PATH',
  'SKILLCELL_OUTPUT',
  'SKILLCELL_VALUE',
  'SKILLS_DIR',
  'TMPDIR',
  'WORKSPACE',
];

/** What shells set by themselves. */
export const SHELL_VARIABLES: readonly string[] = ['PWD', 'SHLVL', '_', 'OLDPWD'];
