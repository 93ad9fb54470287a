import { SkillcellError } from '../../src/contracts/errors/skillcell-error.ts';

/** Returns the code of the SkillcellError that a function throws; any other outcome fails the test. */
export function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (SkillcellError.isInstance(error)) return error.code;
    throw error;
  }
  throw new Error('Nothing was thrown.');
}
