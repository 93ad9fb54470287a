import { parseArgs } from 'node:util';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { CommandArguments, CommandSpecification, FlagSpecification } from '../options/flags/command.ts';
import { quoted } from '../terminal/usage-error.ts';

/**
 * Reads the arguments of a command by its table.
 *
 * @param command the table
 * @param args the words after those of the command
 * @throws SkillcellError `usage.invalid`, naming the flag, the value and the allowed values
 */
export function parseArguments(command: CommandSpecification, args: readonly string[]): CommandArguments {
  const known = new Map(command.flags.map((flag) => [flag.name, flag]));
  const options = Object.fromEntries(
    command.flags.map(({ name, short, value, optionalValue }) => {
      const type = value === undefined || optionalValue === true ? 'boolean' : 'string';
      return [name, { type, ...(short === undefined ? {} : { short }) } as const];
    }),
  );
  const { tokens } = parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true });
  const flags = new Map<string, string[]>();
  const [operands, rest]: [string[], string[]] = [[], []];
  let terminated = false;
  for (const token of tokens) {
    if (token.kind === 'option-terminator') terminated = command.takesRest === true;
    if (token.kind === 'positional') (terminated ? rest : operands).push(token.value);
    if (token.kind !== 'option') continue;
    const flag = known.get(token.name);
    // Without this check, a short option would pass for a long option of one letter.
    if (flag === undefined || ![`--${flag.name}`, `-${flag.short ?? '-'}`].includes(token.rawName)) {
      throw refusal(command, `there is no flag ${token.rawName}`, token.rawName);
    }
    const values = flags.get(flag.name) ?? [];
    if (values.length > 0 && flag.repeatable !== true) {
      throw refusal(command, `--${flag.name} is allowed once`, token.value ?? token.rawName);
    }
    values.push(checkedValue(command, flag, token.value, token.inlineValue ?? false));
    flags.set(flag.name, values);
  }
  checkCount(command, operands);
  return { operands, rest, flags };
}

function checkedValue(
  command: CommandSpecification,
  flag: FlagSpecification,
  value: string | undefined,
  inline: boolean,
): string {
  const { name, choices } = flag;
  if (flag.value === undefined) {
    if (value !== undefined) throw refusal(command, `--${name} takes no value`, value);
    return '';
  }
  if (value === undefined && flag.optionalValue === true) return '';
  if (value === undefined || (!inline && value.startsWith('--'))) {
    const advice = `--${name} needs a value; one that begins with -- is written --${name}=VALUE`;
    throw refusal(command, advice, value ?? 'nothing');
  }
  if (choices !== undefined && !choices.includes(value)) {
    throw refusal(command, `--${name} must be one of ${choices.join(', ')}`, value);
  }
  return value;
}

function checkCount(command: CommandSpecification, operands: readonly string[]): void {
  const { minimumOperands = 0, maximumOperands = 0, operands: shown = 'no operands' } = command;
  const surplus = operands[maximumOperands];
  if (surplus !== undefined) throw refusal(command, `it takes ${shown}`, surplus);
  if (operands.length < minimumOperands) throw refusal(command, `it needs ${shown}`, 'nothing');
}

function refusal({ path }: CommandSpecification, reason: string, value: string): SkillcellError {
  const name = `skillcell ${path.join(' ')}`;
  const got = value === 'nothing' ? value : quoted(value);
  return new SkillcellError('usage.invalid', `Cannot run ${name}: ${reason}, got ${got}.`, {
    hint: `\`${name} --help\` lists the flags and operands.`,
  });
}
