import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOrchestrator } from '../src/jobs/create-orchestrator.ts';
import type { Runner } from '../src/sandboxes/runner.ts';
import { startRegistries } from '../test/fixtures/egress/registries.ts';
import { timedCommand } from './bare-node.ts';
import type { BenchmarkOptions } from './benchmark-group.ts';
import type { EgressPart } from './egress-scene.ts';
import { execSubject } from './exec-subject.ts';
import { timedRow } from './measurement.ts';
import { takeTurns } from './take-turns.ts';

const ROUNDS = 7;
const NAME = 'packages.npm';
const SPEC = 'tiny-odd@3';
const INSTALL = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--', SPEC];
/** Leads the names of the registries to this machine. */
const LOOKUP = `require('node:dns').lookup = (_host, options, answer) =>
  options.all ? answer(null, [{ address: '127.0.0.1', family: 4 }]) : answer(null, '127.0.0.1', 4);`;

/** Where packages are installed. */
export interface InstallPlace {
  runner: Runner;
  /**
   * The command that runs the same npm without a sandbox, with an empty cache.
   *
   * @param folder a folder of its own, with files that it may read
   */
  npm(args: readonly string[], folder: string, variables: Readonly<Record<string, string>>): readonly string[];
}

/** A job that installs a package with a dependency, cold, against the same installation without a sandbox. */
export function egressPackages(place: (options: BenchmarkOptions) => Promise<InstallPlace>): EgressPart {
  return {
    names: [NAME],
    async rows({ group, options }) {
      const { runner, npm } = await place(options);
      await using registries = await startRegistries();
      const { network, caFile } = registries.upstream;
      await using orchestrator = createOrchestrator({
        runners: [runner],
        network: { ...network([]), packages: { npm: ['tiny-*'] } },
      });
      const [id, outside] = [`${group}.${NAME}`, `${group}.${NAME}.outside`];
      const installOutside = async (): Promise<number> => {
        const folder = await mkdtemp(join(tmpdir(), 'bench-'));
        try {
          await writeFile(join(folder, 'lookup.cjs'), LOOKUP);
          await writeFile(join(folder, 'package.json'), '{}');
          await copyFile(caFile, join(folder, 'ca.pem'));
          const [name = '', ...args] = npm(INSTALL, folder, {
            ...{ HOME: folder, NODE_OPTIONS: `--require=${folder}/lookup.cjs` },
            ...{ npm_config_registry: `https://${registries.at('npm.test')}/`, npm_config_cafile: `${folder}/ca.pem` },
            ...{ npm_config_update_notifier: 'false', npm_config_progress: 'false' },
          });
          return await timedCommand(name, args, folder);
        } finally {
          await rm(folder, { recursive: true, force: true });
        }
      };
      const job = { code: 'console.log(6 * 7)', packages: { npm: [SPEC] } };
      const subjects = [{ id: outside, sample: installOutside }, execSubject(id, orchestrator, job, false)];
      const values = await takeTurns(subjects, options.samples ?? ROUNDS, options.progress);
      return [timedRow(values, { id, goal: 'ratio ≤ 2', baseline: outside })];
    },
  };
}
