import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { removeTree } from '../../src/durable/remove-tree.ts';
import { eachAtOnce } from '../../src/protocol/each-at-once.ts';
import { BEST_LEVEL } from '../fixtures/levels.ts';
import { CONFORMANCE_EXCEPTIONS, type ConformanceException } from '../fixtures/mcp/conformance-exceptions.ts';
import { tokenProxy } from '../fixtures/mcp/token-proxy.ts';
import { levelFlags, startMcpServer, TOKEN } from '../fixtures/mcp-server.ts';

const SUITE = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'));
const CLIENT = fileURLToPath(new URL('../fixtures/mcp/conformance-client.ts', import.meta.url));
const REVISIONS = ['2025-11-25', '2026-07-28'] as const;
const AT_ONCE = 3;

type Side = ConformanceException['side'];

interface Check {
  id: string;
  status: string;
  errorMessage?: string;
}

interface Scenario {
  name: string;
  /** The revisions in which it runs; none for a scenario of an extension. */
  revisions: readonly string[];
}

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'skillcell-conformance-'));
});
afterAll(() => removeTree(folder));

/** Runs the suite, which ends with 1 if a check fails: its checks say more. */
async function suite(...args: string[]): Promise<string> {
  return await new Promise((resolve) => {
    execFile(process.execPath, [SUITE, ...args], { maxBuffer: 64 * 1024 * 1024 }, (_, stdout, stderr) =>
      resolve(`${stdout}${stderr}`),
    );
  });
}

/** The scenarios of a side. */
async function scenariosOf(side: Side): Promise<Scenario[]> {
  const lines = (await suite('list', `--${side}`)).matchAll(/^ {2}- (\S+) \[(.*)\]$/gm);
  return Array.from(lines, ([, name = '', revisions = '']) => ({
    name,
    revisions: REVISIONS.filter((revision) => revisions.split(',').includes(revision)),
  }));
}

/** The results of the suite, by scenario: it makes a folder for each, whose name ends with the time. */
function checksIn(output: string): Map<string, Check[]> {
  const files = readdirSync(output, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('checks.json'),
  );
  return new Map(
    files.map((file) => [
      dirname(file)
        .replace(/^server-/, '')
        .replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, ''),
      JSON.parse(readFileSync(join(output, file), 'utf8')) as Check[],
    ]),
  );
}

function isAbout({ scenario }: ConformanceException, name: string): boolean {
  return scenario.endsWith('*') ? name.startsWith(scenario.slice(0, -1)) : scenario === name;
}

interface Compared {
  unexpected: string[];
  /** Scenarios of exceptions that no longer excuse anything. */
  stale: string[];
  passed: number;
}

/** Runs the scenarios of a side, and compares the failures with the exceptions. */
async function compare(side: Side, run: (scenarios: Scenario[]) => Promise<Map<string, Check[]>[]>): Promise<Compared> {
  const exceptions = CONFORMANCE_EXCEPTIONS.filter((exception) => exception.side === side);
  const needed = new Set(exceptions.filter(({ kind }) => kind === 'varies'));
  const unexpected: string[] = [];
  let passed = 0;
  const judge = (name: string, checks: readonly Check[]): void => {
    const successes = checks.filter(({ status }) => status === 'SUCCESS');
    passed += successes.length;
    for (const { id, errorMessage = '' } of checks.filter(({ status }) => /^(?:FAILURE|WARNING)$/.test(status))) {
      const excuse = exceptions.find((each) => isAbout(each, name) && (each.checks?.includes(id) ?? true));
      if (excuse === undefined) unexpected.push(`${name}: ${id}: ${errorMessage}`);
      else needed.add(excuse);
    }
    const isWhole = exceptions.some((each) => isAbout(each, name) && each.checks === undefined);
    if (successes.length === 0 && !isWhole) unexpected.push(`${name}: no check of it has passed`);
  };
  const wanted = (await scenariosOf(side)).filter(({ name }) => {
    const leftOut = exceptions.find((each) => each.kind === 'left-out' && isAbout(each, name));
    if (leftOut !== undefined) needed.add(leftOut);
    return leftOut === undefined;
  });
  for (const checks of await run(wanted)) for (const [name, each] of checks) judge(name, each);
  const stale = exceptions.filter((exception) => !needed.has(exception)).map(({ scenario }) => scenario);
  return { unexpected, stale, passed };
}

/** Runs a part of the suite, and returns its results. */
async function results(...args: string[]): Promise<Map<string, Check[]>> {
  const output = mkdtempSync(join(folder, 'results-'));
  await suite(...args, '-o', output);
  return checksIn(output);
}

const ARGUMENTS = ['--timeout', '120000'];
const ofExtensions = ({ revisions }: Scenario): boolean => revisions.length === 0;

describe('the conformance suite of the protocol', () => {
  it('finds in the client only the intended gaps', async () => {
    const args = ['client', '--command', `'${process.execPath}' '${CLIENT}'`, ...ARGUMENTS];
    const { passed, ...others } = await compare('client', async (scenarios) => {
      const runs = scenarios.flatMap(({ name, revisions }) =>
        revisions.length === 0
          ? [['--scenario', name]]
          : revisions.map((revision) => ['--scenario', name, '--spec-version', revision]),
      );
      return await eachAtOnce(runs, AT_ONCE, async (run) => await results(...args, ...run));
    });
    expect(others).toEqual({ unexpected: [], stale: [] });
    expect(passed).toBeGreaterThan(50);
  });

  it('finds in the server only the intended gaps', async () => {
    const root = join(folder, 'skills');
    const skill = join(root, 'public/units');
    mkdirSync(join(skill, 'references'), { recursive: true });
    writeFileSync(join(skill, 'SKILL.md'), '---\nname: units\ndescription: Units in reports.\n---\nGive SI units.\n');
    writeFileSync(join(skill, 'references/table.md'), '# Table\n');
    await using server = await startMcpServer([...(await levelFlags(BEST_LEVEL)), '--skills-root', root]);
    await using proxy = await tokenProxy(server.url, TOKEN);
    const args = ['server', '--url', proxy.url, ...ARGUMENTS];
    const { passed, ...others } = await compare('server', async (scenarios) => {
      const runs = [
        ...REVISIONS.map((revision) => ['--suite', 'all', '--spec-version', revision]),
        ...scenarios.filter(ofExtensions).map(({ name }) => ['--scenario', name]),
      ];
      return await eachAtOnce(runs, 1, async (run) => await results(...args, ...run));
    });
    expect(others).toEqual({ unexpected: [], stale: [] });
    expect(passed).toBeGreaterThan(150);
  });
});
