import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { ModelGateway } from '../../../models/model-gateway.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { type CommandContext, flagValue } from './command.ts';
import { checkInputFile } from '../../terminal/input-file.ts';
import { usageError } from '../../terminal/usage-error.ts';

/** Use of a model by a command: required, optional, or none in spite of the flags, as in a dry run. */
export type ModelUse = 'needed' | 'optional' | 'none';

/**
 * The model that `--model`, `--replay`, `--record` and the environment choose; undefined if no model is asked.
 *
 * @throws SkillcellError `model.not-configured`, `usage.invalid` or `file.unreadable`
 */
export async function modelFromFlags(context: CommandContext, use: ModelUse): Promise<ModelGateway | undefined> {
  const { arguments: given, io } = context;
  const [model, replay, record] = ['model', 'replay', 'record'].map((name) => flagValue(given, name));
  if (replay !== undefined && model !== undefined) {
    throw usageError('--replay', 'a recording and --model exclude each other', replay);
  }
  if (replay !== undefined && record !== undefined) {
    throw usageError('--record', 'there is nothing new to record from --replay', record);
  }
  const recording = record === undefined ? undefined : recordingPath(record, context);
  const source = replay === undefined ? undefined : checkInputFile('--replay', replay, io).source;
  if (use === 'none') return undefined;
  if (source !== undefined) {
    const { replayGateway } = await import('../../../models/recordings/replay-gateway.ts');
    return replayGateway(source);
  }
  const { readModelSettings } = await import('../../../models/gateways/model-environment.ts');
  const settings = readModelSettings(model, io.env);
  if (settings === undefined) {
    if (use === 'optional' && record === undefined) return undefined;
    throw new SkillcellError('model.not-configured', 'Cannot write code: no model is configured.');
  }
  const { createModelGateway } = await import('../../../models/gateways/create-model-gateway.ts');
  const gateway = createModelGateway(settings);
  if (recording === undefined) return gateway;
  const { recordingGateway } = await import('../../../models/recordings/recording-gateway.ts');
  return recordingGateway(gateway, recording);
}

/** Checked first: otherwise an unwritable recording would fail only after the first answer was paid for. */
function recordingPath(value: string, { io }: CommandContext): string {
  const path = resolve(io.cwd(), value);
  const place = statSync(path, { throwIfNoEntry: false });
  const fits = place === undefined ? statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory() : place.isFile();
  if (value !== '' && fits === true) return path;
  throw usageError('--record', 'it must be a file, or a new one in an existing folder', value);
}
