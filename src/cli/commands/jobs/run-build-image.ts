import { buildImage } from '../../../sandboxes/docker/build/build-image.ts';
import { connectEngine } from '../../../sandboxes/docker/engine/engine.ts';
import type { ImageFlavor } from '../../../sandboxes/docker/image-flavor.ts';
import { ensureRuntime } from '../../../sandboxes/runtime-bundle.ts';
import { type CommandContext, flagValue } from '../../options/flags/command.ts';

/** `skillcell image build`: builds the image for containers, and reports its base. */
export async function runBuildImage({ arguments: given, output, json, io }: CommandContext): Promise<number> {
  const flavor = (flagValue(given, 'flavor') ?? 'slim') as ImageFlavor;
  const base = flagValue(given, 'base');
  const host = io.env['DOCKER_HOST'];
  const engine = await connectEngine(host === undefined || host === '' ? {} : { host });
  const notes: Promise<void>[] = [];
  const id = await buildImage(engine, {
    flavor,
    bundle: await ensureRuntime(),
    ...(base === undefined ? {} : { base }),
    onProgress: (line) => notes.push(output.note(line)),
  });
  await Promise.all(notes);
  if (json) await output.json({ image: `skillcell-sandbox:${flavor}`, id });
  else await output.text(`skillcell-sandbox:${flavor} ${id}\n`);
  return 0;
}
