import type { CommandSpecification, FlagSpecification } from '../options/flags/command.ts';
import { COMMANDS } from './command-table.ts';

const GENERAL: readonly FlagSpecification[] = [
  { name: 'help', summary: 'print this text; also after each command' },
  { name: 'version', summary: 'print the version' },
];
const EXIT_CODES =
  'Exit codes: 0 done · 1 the program in the sandbox failed · 2 wrong usage or input · 3 this machine cannot do it ·\n' +
  '4 a fault of skillcell · 130 interrupted.\n';
/** The widest left column. */
const LEFT = 34;

/**
 * Writes the help text of a command, of a group of commands, or of the whole program.
 *
 * @param path the words of the command or the group; none for the program
 */
export function helpText(path: readonly string[]): string {
  const command = COMMANDS.find((each) => each.path.join(' ') === path.join(' '));
  return command === undefined ? groupHelp(path) : commandHelp(command);
}

function commandHelp({ path, summary, operands, takesRest, flags, notes = [] }: CommandSpecification): string {
  const usage = ['skillcell', ...path, ...(operands === undefined ? [] : [operands])].join(' ');
  const options = flags.length === 0 ? '' : `\nFlags:\n${flags.map(flagLine).join('')}`;
  const more = notes.length === 0 ? '' : `\n${notes.map((note) => `${note}\n`).join('')}`;
  const title = `${summary.slice(0, 1).toUpperCase()}${summary.slice(1)}.`;
  const rest = takesRest === true ? ' [-- ARGS...]' : '';
  return `Usage: ${usage}${flags.length === 0 ? '' : ' [FLAGS]'}${rest}\n\n${title}\n${options}${more}`;
}

function groupHelp(path: readonly string[]): string {
  const commands = COMMANDS.filter((command) => path.every((word, index) => command.path[index] === word));
  const program = ['skillcell', ...path].join(' ');
  const parts = [
    `Usage: ${program} COMMAND [FLAGS]\n`,
    ...(path.length === 0 ? ['Runs untrusted code in isolated sandboxes, with Agent Skills.\n'] : []),
    `Commands:\n${commands.map(commandLine).join('')}`,
    `Flags:\n${GENERAL.map(flagLine).join('')}`,
    EXIT_CODES,
  ];
  return parts.join('\n');
}

function commandLine({ path, operands, summary }: CommandSpecification): string {
  return line([...path, ...(operands === undefined ? [] : [operands])].join(' '), summary);
}

function flagLine({ name, short, value, optionalValue, repeatable, summary }: FlagSpecification): string {
  const shown = optionalValue === true ? `[=${value}]` : ` ${value}`;
  const other = short === undefined ? '' : `-${short}, `;
  const left = `${other}--${name}${value === undefined ? '' : shown}${repeatable === true ? '...' : ''}`;
  return line(left, summary);
}

function line(left: string, right: string): string {
  const gap = left.length > LEFT - 2 ? `\n  ${' '.repeat(LEFT)}` : ' '.repeat(LEFT - left.length);
  return `  ${left}${gap}${right}\n`;
}
