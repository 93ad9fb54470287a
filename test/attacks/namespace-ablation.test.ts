import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { NAMESPACE_SPEC, removeChangedRuntimes } from '../fixtures/changed-namespace.ts';
import { describeWith } from '../fixtures/describe-with.ts';
import { NAMESPACE_ATTACKS } from './namespace-ablation.ts';
import { NAMESPACE_CHANGES, UNCHANGED } from './namespace-changes.ts';
import { namespaceCommand } from '../../src/sandboxes/local/namespace-command.ts';
import { MISSING_FOR_NAMESPACE_CHANGES, openNamespaceScene, tryNamespaceAttack } from './namespace-scene.ts';
import { fromBubblewrap, optionsOf } from './namespace-words.ts';
import type { AttackRow } from './surroundings.ts';

const HERE = fileURLToPath(new URL('../..', import.meta.url));
const known = (kind: string): string[] =>
  [...Object.keys(NAMESPACE_CHANGES), ...Object.keys(UNCHANGED)]
    .filter((name) => name.startsWith(`${kind} `) && !name.endsWith('(writable)'))
    .map((name) => name.slice(kind.length + 1));

const sorted = (names: readonly string[]): string[] => [...new Set(names)].toSorted();

describeWith('the ablation of level namespace', MISSING_FOR_NAMESPACE_CHANGES, () => {
  afterAll(removeChangedRuntimes);

  test('has a change for every argument of the outer launcher', () => {
    const words = namespaceCommand({
      bubblewrap: '/usr/bin/bwrap',
      runtime: '/runtime',
      executor: '/usr/bin/python3',
      spec: NAMESPACE_SPEC,
      memoryGroup: '/group',
    });
    const options = [
      ...optionsOf(words.slice(0, words.indexOf('/usr/bin/bwrap'))),
      ...optionsOf(fromBubblewrap(words)),
    ];
    expect(sorted(options.map(({ key }) => key))).toEqual(sorted(known('outer')));
  });

  test('has a change for every argument of the inner launcher, by the command line in the kernel', async () => {
    await using scene = openNamespaceScene([]);
    await scene.look(({ innerMonitor }) => {
      const keys = optionsOf(fromBubblewrap(innerMonitor.words)).map(({ key }) => key);
      expect(keys.length).toBeGreaterThan(20);
      // Words that are not options of bubblewrap: the shell's own line, and the program before the executor.
      const others = ['oom_score_adj', 'prlimit --nproc'];
      expect(sorted([...keys, ...others])).toEqual(sorted(known('inner')));
    });
  });

  test('has a change for every option of a mount, every limit of the first process and every file of the group', () => {
    const script = readFileSync(`${HERE}/runtime/launch/enter-namespace.sh`, 'utf8');
    const mounts = [...script.matchAll(/\w+ (\/\S+) tmpfs (\S+?)["']/g)].flatMap(([, place = '', options = '']) => [
      place,
      ...options.split(',').map((option) => `${place} ${option.split('=')[0]}`),
    ]);
    expect(sorted([...mounts, 'umask'])).toEqual(sorted(known('mount')));
    const first = readFileSync(`${HERE}/src/sandboxes/local/start-process.ts`, 'utf8');
    const limits = [...first.matchAll(/ulimit -\w/g)].map(([text]) => text);
    expect(sorted([...limits, 'entrances', 'descriptors', 'env'])).toEqual(sorted(known('start')));
    const group = readFileSync(`${HERE}/src/sandboxes/local/control-group.ts`, 'utf8');
    const files = [...group.matchAll(/'((?:memory|cpu|pids)\.[a-z_.0-9]+)'\)?, /g)].map(([, file = '']) => file);
    const ofVersion2 = ['memory.max', 'memory.swap.max', 'cpu.max'];
    // The period has its default value, and has no effect without the quota.
    const ours = files.filter((file) => ![...ofVersion2, 'cpu.cfs_period_us'].includes(file));
    expect(sorted(ours)).toEqual(sorted(known('group')));
  });

  test('has an attack or a view of the kernel for every change', () => {
    const opened = NAMESPACE_ATTACKS.flatMap(({ opens }) => opens);
    expect(sorted(opened)).toEqual(sorted(Object.keys(NAMESPACE_CHANGES)));
  });

  for (const attack of NAMESPACE_ATTACKS) {
    const { id, title, opens } = attack;
    test(`${id} ${title} [namespace]`, async ({ task }) => {
      const row: AttackRow = { id, title, level: 'namespace', evidence: [] };
      task.meta.attack = row;
      const ours = await tryNamespaceAttack(attack);
      expect(ours.blocked, `ours: ${ours.evidence}`).toBe(true);
      const [name = ''] = opens;
      const control = await tryNamespaceAttack(attack, NAMESPACE_CHANGES[name]);
      expect(control.blocked, `without ${name}: ${control.evidence}`).toBe(false);
      row.evidence.push(ours.evidence, `goes through without ${name}`);
    });
  }
});
