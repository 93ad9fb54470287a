import type { CliIo } from '../../terminal/cli-io.ts';
import type { CliOutput } from '../../terminal/cli-output.ts';
import type { Interruption } from '../../terminal/interruption.ts';

/** One flag of a command. */
export interface FlagSpecification {
  /** Without the two hyphens. */
  name: string;
  /** One letter, used with one hyphen. */
  short?: string;
  /** Placeholder of the value in the help text; a flag without it is a switch. */
  value?: string;
  /** Whether it is a switch that may have a value: `--name` or `--name=VALUE`. */
  optionalValue?: boolean;
  repeatable?: boolean;
  /** The values that are allowed, when they are few. */
  choices?: readonly string[];
  summary: string;
}

/** A command line, checked against the command's table. */
export interface CommandArguments {
  operands: readonly string[];
  /** The words after `--`, if the command takes them apart from its operands. */
  rest: readonly string[];
  /** Values by flag; a switch that is on has one empty value. */
  flags: ReadonlyMap<string, readonly string[]>;
}

/** Input of a command. */
export interface CommandContext {
  io: CliIo;
  output: CliOutput;
  interruption: Interruption;
  arguments: CommandArguments;
  /** Whether stdout is for one JSON document. */
  json: boolean;
}

/** Runs a command. Gives the exit code; throws a `SkillcellError` for everything that has a code of its own. */
export type CommandRun = (context: CommandContext) => Promise<number>;

/** One command of the command line. */
export interface CommandSpecification {
  /** The words that name it. */
  path: readonly string[];
  summary: string;
  /** Operands as the help text shows them. */
  operands?: string;
  minimumOperands?: number;
  maximumOperands?: number;
  /** Whether words after `--` are no operands of the command. */
  takesRest?: boolean;
  flags: readonly FlagSpecification[];
  /** More lines for its help text. */
  notes?: readonly string[];
  /** Loads the code of the command, and only of that one. */
  load: () => Promise<CommandRun>;
}

/** The value of a flag that may be given once. */
export function flagValue({ flags }: CommandArguments, name: string): string | undefined {
  return flags.get(name)?.[0];
}

/** All values of a repeatable flag. */
export function flagValues({ flags }: CommandArguments, name: string): readonly string[] {
  return flags.get(name) ?? [];
}
