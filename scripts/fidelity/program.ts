import type { Language } from '../../src/contracts/language.ts';
import type { DifferenceName } from './differences-on-purpose.ts';

/** A program that is run plainly and as a job. */
export interface Program {
  /** Where it stands: the path below its folder, and in a file of many `#` and its heading. */
  id: string;
  language: Language;
  /** What its file is called in the working folder. */
  fileName: string;
  code: string;
  args: string[];
  env: Record<string, string>;
  stdin: string;
  /** Files beside it, by their path below the working folder. */
  files: Record<string, string>;
  /** Whether all of stderr is compared, or its last line. */
  wholeStderr: boolean;
  /** Why it may differ: a row of the table of differences on purpose. */
  onPurpose: DifferenceName | undefined;
}

/** How a run of a program ended, and all that it left. */
export interface ProgramRun {
  stdout: string;
  stderr: string;
  exitCode: number | null;
  signal: string | null;
  /** Regular files below the output folder, by path. */
  files: Record<string, string>;
}
