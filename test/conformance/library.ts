import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentsConfig, RootKind, SkillRoot } from '../../src/contracts/skills/skill.ts';
import { loadSkillsSubsystem, type SkillsSubsystem } from '../../src/skills/index.ts';
import { writeTree, type Tree } from './write-tree.ts';

/** The part of an input that describes skills on disk. */
export interface LibraryInput {
  /** Shorthand for one built-in root. */
  files?: Tree;
  roots?: { kind: RootKind; name?: string; files?: Tree; trusted?: boolean; absent?: boolean }[];
  overrides?: string[];
  custom_namespaces?: string[];
  agents_config?: AgentsConfig;
}

/** Skills on disk, loaded. */
export interface Library {
  /** The folder that replaces `{DIR}`. */
  dir: string;
  subsystem: SkillsSubsystem;
}

/** Makes a fresh folder, passes it to `use`, and removes it. */
export function withFolder<T>(use: (dir: string) => T): T {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'skillcell-vectors-')));
  try {
    return use(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Writes a library into a fresh folder, loads it, passes it to `use`, and removes it. */
export function withLibrary<T>(input: LibraryInput, use: (library: Library) => T): T {
  return withFolder((dir) => {
    const roots = writeRoots(dir, input);
    const descriptor = {
      agents_config: input.agents_config ?? {},
      overrides: input.overrides ?? [],
      custom_namespaces: input.custom_namespaces ?? [],
    };
    return use({ dir, subsystem: loadSkillsSubsystem({ roots, descriptor }) });
  });
}

/** Writes the roots of a library below a folder. */
export function writeRoots(dir: string, input: LibraryInput): SkillRoot[] {
  const roots = input.roots ?? [{ kind: 'builtin' as const, files: input.files ?? {} }];
  return roots.map(({ kind, name, files, trusted, absent }, index) => {
    const path = join(dir, String(index), name ?? 'skills');
    if (absent === true) mkdirSync(join(dir, String(index)), { recursive: true });
    else writeTree(path, files ?? {});
    return { kind, path, trusted: trusted ?? false };
  });
}
