import { type CommandArguments, flagValue } from './command.ts';
import { usageError } from '../../terminal/usage-error.ts';

const CONSUMER = /^[\p{L}\p{N}][\p{L}\p{N}._:-]{0,127}$/u;

/** Reads `--consumer ID`. @throws SkillcellError `usage.invalid` */
export function consumerFromFlags(given: CommandArguments): string | undefined {
  const consumer = flagValue(given, 'consumer');
  if (consumer === undefined || CONSUMER.test(consumer)) return consumer;
  throw usageError('--consumer', 'it must be an id of 1 to 128 letters, digits and . _ : -', consumer);
}
