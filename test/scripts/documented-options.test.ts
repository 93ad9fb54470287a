import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { publicModules } from '../../scripts/public-modules.ts';

/** The page whose tables have a row for each option of these types. */
const PAGES: Readonly<Record<string, readonly string[]>> = {
  agent: ['GenerateOptions', 'JobBudget', 'SelectOptions'],
  'ai-sdk': ['SandboxSessionOptions', 'SandboxToolsOptions'],
  docker: ['DockerRunnerOptions', 'EngineOptions'],
  evals: ['EvaluateSkillOptions'],
  library: [
    'CodegenOptions',
    'ExecOptions',
    'JobLimits',
    'JobOptions',
    'JobSkillsOptions',
    'OrchestratorOptions',
    'ScriptOptions',
  ],
  mcp: ['McpAddress', 'McpConnectOptions', 'McpProgram', 'McpToolOptions'],
  models: ['ModelRetryOptions'],
  network: ['NetworkOptions', 'NetworkRow', 'NetworkRule', 'PackageOptions', 'ResultNetwork'],
  pool: ['PoolOptions'],
  runners: ['Runner'],
  s3: ['S3BackendOptions', 'S3Connection', 'S3StoreOptions'],
  scale: ['FleetRunnerOptions', 'FleetWorkerOptions'],
  search: ['SearchSkillsOptions'],
  service: ['ConnectServiceOptions'],
  sessions: ['SessionOptions', 'SessionRunOptions'],
  skills: [
    'ConsumerOptions',
    'GalleryOptions',
    'MatchSelection',
    'RenderOptions',
    'SelectionOptions',
    'SkillsSubsystemOptions',
  ],
  sources: ['DirectoryStoreOptions', 'GitStoreOptions', 'McpStoreOptions', 'SkillLibraryOptions', 'WebStoreOptions'],
  tools: ['Tool'],
};
/** Types whose few options a page names in its text, or beside other options. */
const IN_PROSE: readonly string[] = [
  'ArchiveStoreOptions',
  'EvalJobOptions',
  'JobMatchOptions',
  'JobStreamOptions',
  'ListFleetOptions',
  'LoadSkillToolOptions',
  'LocalRunnerOptions',
  'LoggerOptions',
  'SdkGatewayOptions',
  'SetSkillsDescriptorOptions',
  'SkillcellErrorOptions',
  'StartOptions',
  'ToolCallErrorOptions',
  'TreeCacheOptions',
  'ValidateOptions',
];

const { checker, exports } = publicModules();
const symbols = new Map([...exports.values()].flat().map((symbol) => [symbol.name, symbol]));

/** The names in the first two cells of the rows of a page's tables. */
function namesInTables(page: string): string {
  const lines = readFileSync(new URL(`../../docs/${page}.md`, import.meta.url), 'utf8').split('\n');
  const rows = lines.filter((line) => line.startsWith('|'));
  return rows.map((row) => row.split('|').slice(1, 3).join('|')).join('\n');
}

test.each(Object.entries(PAGES))('docs/%s.md has a row for each option', (page, types) => {
  const names = namesInTables(page);
  const missing = types.flatMap((type) => {
    const symbol = symbols.get(type);
    if (symbol === undefined) return [`${type}: no such type`];
    const options = checker.getDeclaredTypeOfSymbol(symbol).getProperties();
    return options
      .filter((option) => option.getJsDocTags().every(({ name }) => name !== 'internal'))
      .map(({ name }) => name)
      .filter((name) => !name.startsWith('__@') && !names.includes(`\`${name}\``) && !names.includes(`\`${name}(`))
      .map((name) => `${type}.${name}`);
  });
  expect(missing).toEqual([]);
});

test('every public type of options has a page', () => {
  const assigned = new Set([...Object.values(PAGES).flat(), ...IN_PROSE]);
  const types = [...symbols.keys()].filter((name) => name.endsWith('Options'));
  expect(types.length).toBeGreaterThan(0);
  expect(types.filter((name) => !assigned.has(name))).toEqual([]);
});
