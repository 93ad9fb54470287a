import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalJson } from '../../src/skills/text/canonical-json.ts';
import { checkDescriptor } from '../../src/skills/descriptor/check-descriptor.ts';
import { descriptorRoots } from '../../src/skills/descriptor/descriptor-roots.ts';
import { digestOf, skillDigest } from '../../src/skills/text/digest.ts';
import { readManifest } from '../../src/skills/load/read-manifest.ts';
import { verifyDescriptor } from '../../src/skills/load-subsystem.ts';
import { withFolder, withLibrary, type LibraryInput } from './library.ts';
import { sortedCodes } from './sorted-codes.ts';
import { skillTreeOf, writeTree, type Tree } from './write-tree.ts';

type Actual = Record<string, unknown>;

const OPERATIONS: Readonly<Record<string, (input: never) => Actual>> = {
  canonical: runCanonical,
  digest: runDigest,
  roots: runRoots,
  portable: runPortable,
  verify: runVerify,
};

/** Runs one case by its `op`. */
export function runDescriptor(input: unknown): Actual {
  const { op } = input as { op: string };
  const operation = Object.hasOwn(OPERATIONS, op) ? OPERATIONS[op] : undefined;
  if (operation === undefined) throw new Error(`The op ${JSON.stringify(op)} is unknown.`);
  return operation(input as never);
}

function runCanonical({ value }: { value: unknown }): Actual {
  const text = canonicalJson(value);
  return { text, digest: digestOf(text) };
}

function runDigest({ files }: { files: Tree }): Actual {
  return withFolder((dir) => {
    writeTree(dir, files);
    const manifest = readManifest(dir);
    if (manifest.files === undefined) return { codes: sortedCodes(manifest.diagnostics) };
    const digest = skillDigest(manifest.files);
    return { files: manifest.files, digest, codes: sortedCodes(manifest.diagnostics) };
  });
}

function runRoots(input: { descriptor: unknown; bundle?: Tree }): Actual {
  return withFolder((dir) => {
    const bundle = join(dir, 'bundle');
    if (input.bundle !== undefined) {
      mkdirSync(bundle);
      writeTree(bundle, input.bundle);
    }
    const value: unknown = JSON.parse(JSON.stringify(input.descriptor).replaceAll('{BUNDLE}', () => bundle));
    const { descriptor, diagnostics } = checkDescriptor(value);
    if (descriptor === undefined) return { custom_skills_root: null, codes: sortedCodes(diagnostics) };
    const roots = descriptorRoots(descriptor, input.bundle === undefined ? undefined : bundle);
    const shown = roots.customSkillsRoot?.replace(bundle, () => '{BUNDLE}') ?? null;
    return { custom_skills_root: shown, codes: sortedCodes([...diagnostics, ...roots.diagnostics]) };
  });
}

function runPortable(input: LibraryInput & { consumer?: string }): Actual {
  return withLibrary(input, ({ subsystem }) => ({
    descriptor: subsystem.descriptor({ portable: true, consumer: input.consumer }),
    codes: sortedCodes([...subsystem.diagnostics]),
  }));
}

function runVerify(input: { descriptor: unknown; arrived: Record<string, Tree> }): Actual {
  const arrived = new Map(Object.entries(input.arrived).map(([id, tree]) => [id, skillTreeOf(tree)]));
  const { ok, diagnostics } = verifyDescriptor(input.descriptor, arrived);
  return { ok, codes: sortedCodes(diagnostics) };
}
