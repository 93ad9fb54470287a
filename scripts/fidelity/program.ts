import type { Language } from '../../src/contracts/jobs/language.ts';
import type { DifferenceName } from './differences-on-purpose.ts';

/** A program to run plainly and as a job. */
export interface Program {
  /** The path of its file below the folder of programs; in a file of many programs also `#` and the heading. */
  id: string;
  language: Language;
  /** The name of its file in the working folder. */
  fileName: string;
  code: string;
  args: string[];
  env: Record<string, string>;
  stdin: string;
  /** Files beside the program, by their path below the working folder. */
  files: Record<string, string>;
  /** Whether all of stderr is compared, or only its last line. */
  wholeStderr: boolean;
  /** The row of the table of differences on purpose that the program shows. */
  onPurpose: DifferenceName | undefined;
}

/** The end of a program's run, its output and its files. */
export interface ProgramRun {
  stdout: string;
  stderr: string;
  exitCode: number | null;
  signal: string | null;
  /** Regular files below the output folder, by path. */
  files: Record<string, string>;
}
