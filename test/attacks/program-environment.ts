/** Names of all variables of a program, except those of its job. */
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

/** Variables that shells set themselves. */
export const SHELL_VARIABLES: readonly string[] = ['PWD', 'SHLVL', '_', 'OLDPWD'];
