import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { containerOptions } from '../../src/sandboxes/docker/container-options.ts';
import { ALL_CONTAINER_ATTACKS, ALL_CONTAINER_CHANGES, CHANGES_OF_FIELDS } from './container-ablation.ts';
import { SPEC } from './container-life.ts';
import { NAMESPACE_CHANGES } from './namespace-changes.ts';

const RUNTIME = fileURLToPath(new URL('../../runtime', import.meta.url));

function sourceOf(name: string): string {
  const [path = ''] = globSync(`**/${name}`, { cwd: RUNTIME });
  return readFileSync(join(RUNTIME, path), 'utf8');
}

/** The fields of the engine's options; fields with several entries, entry by entry. */
function fieldsOfContainer(): string[] {
  const parts = { name: 'name', owner: 'owner', image: 'sha256:0', runtime: undefined, appArmor: true };
  const { HostConfig, ...top } = containerOptions(SPEC, parts);
  const fields = Object.keys(top);
  for (const [key, value] of Object.entries(HostConfig ?? {})) {
    if (key === 'CapAdd') fields.push(...(value as string[]).map((name) => `CapAdd ${name}`));
    else if (key === 'SecurityOpt')
      fields.push(...(value as string[]).map((option) => `SecurityOpt ${option.split('=')[0]}`));
    else if (key === 'Ulimits') fields.push(...(value as { Name: string }[]).map(({ Name }) => `Ulimits ${Name}`));
    else if (key === 'Tmpfs') {
      for (const [path, options] of Object.entries(value as Record<string, string>)) {
        fields.push(`Tmpfs ${path}`, ...options.split(',').map((option) => `Tmpfs ${path} ${option.split('=')[0]}`));
      }
    } else fields.push(key);
  }
  return fields;
}

test('every line of a container has a change that removes it, or a reason against one', () => {
  expect(fieldsOfContainer().toSorted()).toEqual(Object.keys(CHANGES_OF_FIELDS).toSorted());
  for (const [field, changes] of Object.entries(CHANGES_OF_FIELDS)) {
    if (typeof changes === 'string') expect(changes, field).not.toBe('');
    else for (const change of changes) expect(ALL_CONTAINER_CHANGES, field).toHaveProperty([change]);
  }
});

test('every change lets a named attack through', () => {
  const opened = new Set(ALL_CONTAINER_ATTACKS.flatMap((attack) => attack.opens));
  expect([...opened].toSorted()).toEqual(Object.keys(ALL_CONTAINER_CHANGES).toSorted());
});

test('every argument of the launcher of user code in a container has a change that removes it', () => {
  const source = sourceOf('executor-process.ts');
  const launcher = source.slice(source.indexOf('function droppedCommand'), source.indexOf('function innerCommand'));
  const options = [...launcher.matchAll(/'(--[a-z-]+)|`(--[a-z-]+)/g)].map(([, one, other]) => one ?? other ?? '');
  expect(options.length).toBeGreaterThan(6);
  const names = Object.keys(ALL_CONTAINER_CHANGES);
  for (const option of [...options, 'environment of the launcher', 'oom_score_adj'])
    expect(
      names.filter((name) => name.includes(option)),
      option,
    ).not.toEqual([]);
});

test('every text that a change replaces exists in its source', () => {
  const replacements = [
    ...Object.values(ALL_CONTAINER_CHANGES).flatMap(({ entry }) => entry ?? []),
    ...Object.values(NAMESPACE_CHANGES).flatMap(({ scripts }) => scripts ?? []),
  ];
  expect(replacements.length).toBeGreaterThan(50);
  for (const [file, text] of replacements) expect(sourceOf(basename(file)), `${file}: ${text}`).toContain(text);
});
