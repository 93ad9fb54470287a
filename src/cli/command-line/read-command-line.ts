import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { CommandArguments, CommandSpecification } from '../options/flags/command.ts';
import { COMMANDS } from './command-table.ts';
import { parseArguments } from './parse-arguments.ts';
import { quoted } from '../terminal/usage-error.ts';

/** The request of a command line. */
export type CommandLine =
  | { kind: 'help'; path: readonly string[] }
  | { kind: 'version' }
  | { kind: 'run'; command: CommandSpecification; arguments: CommandArguments };

/**
 * Reads a command line.
 *
 * @param argv the words after the name of the program
 * @throws SkillcellError `usage.invalid`
 */
export function readCommandLine(argv: readonly string[]): CommandLine {
  const command = COMMANDS.find(({ path }) => path.every((word, index) => argv[index] === word));
  const asked = beforeTerminator(argv);
  const wantsHelp = asked.some((word) => word === '--help' || word === '-h');
  if (command === undefined) {
    const group = groupOf(argv);
    if (wantsHelp && (group.length > 0 || asked[0]?.startsWith('-') === true)) return { kind: 'help', path: group };
    if (asked[0] === '--version' || asked[0] === '-V') return { kind: 'version' };
    throw unknownCommand(group, argv);
  }
  if (wantsHelp) return { kind: 'help', path: command.path };
  return { kind: 'run', command, arguments: parseArguments(command, argv.slice(command.path.length)) };
}

/** Whether errors are printed as JSON; asked before the command line is parsed. */
export function wantsJson(argv: readonly string[]): boolean {
  const words = beforeTerminator(argv);
  const named = words.some((word, index) => word === 'json' && words[index - 1] === '--format');
  return named || words.includes('--json') || words.includes('--format=json');
}

/** Words after `--` are never flags. */
function beforeTerminator(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--');
  return end < 0 ? argv : argv.slice(0, end);
}

/** The first word, if commands of two words begin with it. */
function groupOf(argv: readonly string[]): string[] {
  return COMMANDS.some(({ path }) => path.length > 1 && path[0] === argv[0]) ? argv.slice(0, 1) : [];
}

function unknownCommand(group: readonly string[], argv: readonly string[]): SkillcellError {
  const names = COMMANDS.filter(({ path }) => group.every((word, index) => path[index] === word)).map(
    ({ path }) => path[group.length] ?? '',
  );
  const word = argv[group.length];
  const program = ['skillcell', ...group].join(' ');
  const got = word === undefined ? 'nothing' : quoted(word);
  const message = `Cannot run ${program}: a command is one of ${[...new Set(names)].join(', ')}, got ${got}.`;
  return new SkillcellError('usage.invalid', message, { hint: `\`${program} --help\` lists the commands.` });
}
