/**
 * Removes each line of a sandbox's configuration, one at a time, and shows which named attack then succeeds, or which facts of the kernel then become
 * visible. Prints a table and fails if a line makes no difference. The fast tests try some lines; this script tries all.
 *
 *     node scripts/ablate.ts [--level container|namespace|both] [--only PATTERN] [--skip-slow]
 */
import { parseArgs } from 'node:util';
import { ALL_CONTAINER_ATTACKS, ALL_CONTAINER_CHANGES } from '../test/attacks/container-ablation.ts';
import { tryAttack, type Verdict } from '../test/attacks/container-scene.ts';
import { NAMESPACE_ATTACKS } from '../test/attacks/namespace-ablation.ts';
import { NAMESPACE_CHANGES } from '../test/attacks/namespace-changes.ts';
import { MISSING_FOR_NAMESPACE_CHANGES, tryNamespaceAttack } from '../test/attacks/namespace-scene.ts';
import { removeChangedImages } from '../test/fixtures/changed-container.ts';
import { removeChangedRuntimes } from '../test/fixtures/changed-namespace.ts';
import { MISSING_ENGINE } from '../test/fixtures/docker-image.ts';

/** One attack at any level, with the changes that let it through. */
interface Subject {
  id: string;
  title: string;
  opens: readonly string[];
  slow?: true;
  attempt(change?: string): Promise<Verdict>;
}

interface Level {
  missing: string | undefined;
  changes: readonly string[];
  subjects: readonly Subject[];
  cleanUp(): Promise<void> | void;
}

const LEVELS: Record<'container' | 'namespace', Level> = {
  namespace: {
    missing: MISSING_FOR_NAMESPACE_CHANGES,
    changes: Object.keys(NAMESPACE_CHANGES),
    subjects: NAMESPACE_ATTACKS.map((attack) => ({
      ...attack,
      attempt: (name) => tryNamespaceAttack(attack, name === undefined ? undefined : NAMESPACE_CHANGES[name]),
    })),
    cleanUp: removeChangedRuntimes,
  },
  container: {
    missing: MISSING_ENGINE,
    changes: Object.keys(ALL_CONTAINER_CHANGES),
    subjects: ALL_CONTAINER_ATTACKS.map((attack) => ({
      ...attack,
      attempt: (name) => tryAttack(attack, name === undefined ? undefined : ALL_CONTAINER_CHANGES[name]),
    })),
    cleanUp: removeChangedImages,
  },
};

const { values } = parseArgs({
  options: { level: { type: 'string' }, only: { type: 'string' }, 'skip-slow': { type: 'boolean' } },
});
process.exitCode = await main(values.level ?? 'both', new RegExp(values.only ?? '.'));

async function main(wanted: string, only: RegExp): Promise<number> {
  const names = (['namespace', 'container'] as const).filter((name) => wanted === name || wanted === 'both');
  if (names.length === 0) {
    process.stderr.write(`Cannot try a level: --level must be container, namespace or both, got "${wanted}".\n`);
    return 2;
  }
  let open = 0;
  for (const name of names) {
    const { missing, cleanUp } = LEVELS[name];
    if (missing !== undefined) {
      process.stderr.write(`Cannot try the lines of level ${name}: this machine lacks ${missing}.\n`);
      return 3;
    }
    try {
      open += await ablate(name, LEVELS[name], only);
    } finally {
      await cleanUp();
    }
  }
  process.stdout.write(`${open === 0 ? 'Every line makes a difference.' : `${open} lines make no difference.`}\n`);
  return open === 0 ? 0 : 1;
}

/** Returns the number of lines that make no difference. */
async function ablate(name: string, { changes, subjects }: Level, only: RegExp): Promise<number> {
  let open = 0;
  for (const change of changes) {
    if (!only.test(change)) continue;
    const through: string[] = [];
    let skipped = 0;
    for (const subject of subjects.filter(({ opens }) => opens.includes(change))) {
      if (subject.slow === true && values['skip-slow'] === true) {
        skipped += 1;
        continue;
      }
      const { blocked, evidence } = await tried(subject, change);
      if (!blocked) through.push(`${subject.id} ${subject.title}${name === 'namespace' ? `: ${evidence}` : ''}`);
    }
    const state = through.length > 0 ? 'red' : skipped > 0 ? 'skipped' : 'NO DIFFERENCE';
    if (state === 'NO DIFFERENCE') open += 1;
    process.stdout.write(`${change.padEnd(48)} ${state.padEnd(13)} ${through.join('; ')}\n`);
  }
  return open;
}

/** An error that the attack does not expect proves nothing. */
async function tried(subject: Subject, change: string): Promise<Verdict> {
  try {
    return await subject.attempt(change);
  } catch (error) {
    process.stderr.write(`${change}: ${subject.id} ${subject.title} failed to run: ${String(error)}\n`);
    return { blocked: true, evidence: '' };
  }
}
