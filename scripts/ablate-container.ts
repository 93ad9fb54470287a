/**
 * Takes each line of a container's configuration away, one at a time, and shows which named attack then goes through. Prints
 * a table and fails when a line makes no difference. The fast tests try one line an attack; this tries all.
 *
 *     node scripts/ablate-container.ts [--only PATTERN] [--skip-slow]
 */
import { parseArgs } from 'node:util';
import { ALL_CONTAINER_ATTACKS, ALL_CONTAINER_CHANGES } from '../test/attacks/container-ablation.ts';
import { tryAttack } from '../test/attacks/container-scene.ts';
import { removeChangedImages } from '../test/fixtures/changed-container.ts';
import { MISSING_ENGINE } from '../test/fixtures/docker-image.ts';

const { values } = parseArgs({ options: { only: { type: 'string' }, 'skip-slow': { type: 'boolean' } } });

if (MISSING_ENGINE === undefined) process.exitCode = await ablate(new RegExp(values.only ?? '.'));
else {
  process.stderr.write(`Cannot try the lines of a container: this machine lacks ${MISSING_ENGINE}.\n`);
  process.exitCode = 3;
}

async function ablate(only: RegExp): Promise<number> {
  let open = 0;
  try {
    for (const [name, change] of Object.entries(ALL_CONTAINER_CHANGES)) {
      if (!only.test(name)) continue;
      const attacks = ALL_CONTAINER_ATTACKS.filter((attack) => attack.opens.includes(name));
      const through: string[] = [];
      let skipped = 0;
      for (const attack of attacks) {
        if (attack.slow === true && values['skip-slow'] === true) {
          skipped += 1;
          continue;
        }
        const { blocked } = await tryAttack(attack, change);
        if (!blocked) through.push(`${attack.id} ${attack.title}`);
      }
      const state = through.length > 0 ? 'red' : skipped > 0 ? 'skipped' : 'NO DIFFERENCE';
      if (state === 'NO DIFFERENCE') open += 1;
      process.stdout.write(`${name.padEnd(48)} ${state.padEnd(13)} ${through.join('; ')}\n`);
    }
  } finally {
    await removeChangedImages();
  }
  process.stdout.write(`${open === 0 ? 'Every line makes a difference.' : `${open} lines make none.`}\n`);
  return open === 0 ? 0 : 1;
}
