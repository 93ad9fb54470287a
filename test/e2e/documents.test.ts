import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { MISSING_CEPH } from '../fixtures/ceph.ts';
import { MISSING_REDIS } from '../fixtures/fleet/redis.ts';
import { MISSING_CURL, MISSING_GIT, MISSING_PYTHON, requireHere } from '../fixtures/describe-with.ts';
import { type BucketOfDocument, openBucketOfDocument } from '../fixtures/documents/bucket-of-document.ts';
import { asShown, consoleEntries } from '../fixtures/documents/console-session.ts';
import { documentBlocks, documents, parseBlocks, type DocumentBlock } from '../fixtures/documents/document-blocks.ts';
import { missingIsolation } from '../fixtures/documents/missing-isolation.ts';
import { type FleetOfDocument, openFleetOfDocument } from '../fixtures/documents/fleet-of-document.ts';
import { createNewcomer, type Newcomer } from '../fixtures/documents/newcomer.ts';
import { shareOf } from '../fixtures/share.ts';
import { FAULTY_PROGRAM, typeFaults } from '../fixtures/documents/type-faults.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Languages of blocks for a shell, and file endings of blocks for Node and Python. */
const SHELL: ReadonlySet<string> = new Set(['sh', 'bash', 'shell', 'console']);
const PROGRAMS: Readonly<Record<string, string>> = { ts: 'mts', js: 'mjs', python: 'py' };
const TIMEOUT_MS = 120_000;

const isolation = await missingIsolation();

/** The document whose blocks need a bucket. */
const OF_BUCKET = 'docs/s3.md';
/** The document whose blocks need a Redis. */
const OF_FLEET = 'docs/scale.md';

/** The programs that this machine lacks for a block. */
function missingFor({ text, language, place }: DocumentBlock): string | undefined {
  if (place.startsWith(`${OF_BUCKET}:`) && MISSING_CEPH !== undefined) return MISSING_CEPH;
  if (place.startsWith(`${OF_FLEET}:`)) return MISSING_REDIS ?? isolation;
  if (/\bgit init\b|[./ ]press\b/.test(text) && MISSING_GIT !== undefined) return MISSING_GIT;
  const runsJob =
    language === 'ts' || /\b(skillcell (exec|codegen|repl|serve|skills run|skills eval)|node \S+\.mts)\b/.test(text);
  if (runsJob && isolation !== undefined) return isolation;
  if (/\bcurl\b/.test(text) && MISSING_CURL !== undefined) return MISSING_CURL;
  if (/\bgit (init|-C)\b/.test(text) && MISSING_GIT !== undefined) return MISSING_GIT;
  return runsJob && /python|\.py\b/.test(text) ? MISSING_PYTHON : undefined;
}

const isRun = ({ language, notRun, file }: DocumentBlock): boolean =>
  notRun === undefined && file === undefined && (SHELL.has(language) || language in PROGRAMS);

const followed = documents()
  .map((path) => ({ path, blocks: documentBlocks(path) }))
  .filter(({ blocks }) =>
    blocks.some((block) => isRun(block) || block.file !== undefined || block.language === 'json'),
  );

// Each document costs a folder with its own sandboxes.
describe.each(shareOf(followed, ({ path }) => path === 'README.md'))('$path', ({ path, blocks }) => {
  let newcomer: Newcomer;
  let service: BucketOfDocument | FleetOfDocument | undefined;
  beforeAll(async () => {
    if (path === OF_BUCKET && MISSING_CEPH === undefined) service = await openBucketOfDocument();
    if (path === OF_FLEET && MISSING_REDIS === undefined) service = await openFleetOfDocument();
    newcomer = createNewcomer(service?.env);
  }, TIMEOUT_MS);
  afterAll(async () => {
    newcomer[Symbol.dispose]();
    await service?.[Symbol.asyncDispose]();
  });

  /** The blocks to run, each with the files that the text has shown since the last one. */
  const steps = blocks.flatMap((block, index) => {
    if (!isRun(block)) return [];
    const previous = blocks.findLastIndex((each, at) => at < index && isRun(each));
    const next = blocks[index + 1];
    const shown =
      next?.language === 'text' && next.notRun === undefined && next.file === undefined ? next.text : undefined;
    return [{ block, files: blocks.slice(previous + 1, index).filter(({ file }) => file !== undefined), shown }];
  });

  it.for(steps.map((step) => [step.block.place, step] as const))(
    '%s runs',
    { timeout: TIMEOUT_MS },
    async ([place, { block, files, shown }], context: TestContext) => {
      for (const { file = '', text } of files) newcomer.save(file, text);
      requireHere(context, missingFor(block));
      const entries =
        block.language === 'console'
          ? consoleEntries(block.text)
          : [{ command: commandOf(block, newcomer), output: shown }];
      for (const { command, output: expected } of entries) {
        const { code, output } = await newcomer.paste(command);
        expect(code, `${place}: ${command}\n${output}`).toBe(0);
        if (expected !== undefined) expect(asShown(expected, output), place).toBe(expected);
      }
    },
  );

  const files = blocks.filter(({ file }) => file !== undefined);
  if (files.length > 0) {
    it('names each file in the text before its block, and a command uses it', () => {
      for (const { file = '', prose, place } of files) {
        const name = file.slice(file.lastIndexOf('/') + 1);
        expect(prose, `${place}: the prose names ${name}`).toContain(`\`${name}\``);
        const used = blocks.some((block) => isRun(block) && block.text.includes(file.split('/')[0] ?? file));
        expect(used, `${place}: some command uses ${file}`).toBe(true);
      }
    });
  }

  const data = blocks.filter(({ language }) => language === 'json');
  if (data.length > 0) {
    it(`shows valid JSON in ${path}`, () => {
      for (const { text, place } of data) expect(() => JSON.parse(text) as unknown, place).not.toThrow();
    });
  }
});

/** The command of a newcomer for a block: its lines, or the interpreter on the saved file. */
function commandOf({ language, text, place }: DocumentBlock, newcomer: Newcomer): string {
  const ending = PROGRAMS[language];
  if (ending === undefined) return text;
  const name = `${fileNameOf(place)}.${ending}`;
  newcomer.save(name, text);
  return language === 'python' ? `python3 ${name}` : `node ${name}`;
}

function fileNameOf(place: string): string {
  return place.replace(/\W+/g, '-');
}

describe('TypeScript programs', () => {
  it('fit the types of the library', { timeout: TIMEOUT_MS }, async () => {
    const blocks = documents().flatMap((path) => documentBlocks(path).filter(({ language }) => language === 'ts'));
    expect(blocks.length).toBeGreaterThan(0);
    // A program imports the files that its own document saves.
    const programs = blocks.map(({ place, text, file }) => ({
      file: `${fileNameOf(place.slice(0, place.lastIndexOf(':')))}/${file ?? `${fileNameOf(place)}.mts`}`,
      text,
    }));
    const { files, output } = await typeFaults([...programs, FAULTY_PROGRAM]);
    expect(files, output).toEqual([FAULTY_PROGRAM.file]);
  });
});

describe('the page of buckets', () => {
  it('calls each method of a backend', () => {
    const declared = readFileSync(join(root, 'src/backend/s3-backend.ts'), 'utf8');
    const methods = [...declared.matchAll(/^ {2}(\w+)\(/gm)].map(([, name]) => name ?? '');
    expect(methods).toContain('loadSkillContent');
    const programs = documentBlocks(OF_BUCKET)
      .filter((block) => isRun(block))
      .map(({ text }) => text)
      .join('');
    expect(methods.filter((name) => !programs.includes(`backend.${name}(`))).toEqual([]);
  });
});

describe('links', () => {
  it('lead to existing files', () => {
    for (const path of ['CONTRIBUTING.md', 'CHANGELOG.md', 'bench/README.md', ...documents()]) {
      for (const [, target = ''] of readFileSync(join(root, path), 'utf8').matchAll(/\]\(((?!\w+:)[^)#\s]+)/g))
        expect(existsSync(join(root, dirname(path), target)), `${path}: ${target}`).toBe(true);
    }
  });
});

describe('blocks that no test runs', () => {
  it('are these, each with its reason', () => {
    const notRun = documents().flatMap((path) =>
      documentBlocks(path).flatMap(({ notRun: reason, text }) =>
        reason === undefined ? [] : [`${path}: ${text.split('\n')[0]} (${reason})`],
      ),
    );
    expect(notRun).toMatchInlineSnapshot(`
      [
        "README.md: npm install skillcell (a test of its own packs, installs and imports the package)",
        "README.md: sudo apt-get install bubblewrap util-linux    # level namespace; python3 for Python jobs (it changes the machine)",
        "README.md: npm start    # the quick start: refused attacks, and a report on a real table with and without a skill (a test of its own runs the quick start, and this is one of the tests)",
        "README.md: export SKILLCELL_MODEL=anthropic/claude-sonnet-4-5 ANTHROPIC_API_KEY=… (it asks a paid model)",
        "README.md: { "mcpServers": { (another program reads it)",
        "docs/ai-sdk.md: import { isStepCount, tool, ToolLoopAgent } from 'ai'; (it asks a paid model)",
        "docs/console.md: skillcell serve (it serves until it is stopped)",
        "docs/mcp.md: skillcell mcp --descriptor bundle.json                       # on standard input and output (another program starts it, and speaks to it)",
        "docs/models.md: printf 'month,celsius\\n2024-01,2.4\\n2024-07,19.1\\n' > data.csv (it asks a model)",
        "docs/models.md: skillcell codegen "Which month was the warmest? Write report.md." --file data.csv --expect report.md --record answers.json (the first line asks a model, and the second needs what it wrote)",
        "docs/network.md: skillcell exec report.mjs --allow-host 'GET api.example.com/v1/**' --secret API_TOKEN=api.example.com (it needs a host of the internet)",
        "docs/s3.md: import { createS3Backend, loadSkillTool, skillsMiddleware } from 'skillcell/backend'; (it asks a paid model)",
        "docs/scale.md: sudo apt-get install redis-server (it changes the machine)",
        "docs/service.md: skillcell serve (it serves until it is stopped)",
        "docs/service.md: export PGPASSWORD=… AWS_ACCESS_KEY_ID=… AWS_SECRET_ACCESS_KEY=… (it serves until it is stopped)",
        "docs/web-sources.md: skillcell skills add mcp:https://docs.example.com/mcp (it needs an MCP server, which a test of its own has)",
      ]
    `);
  });
});

describe('the reading of documents', () => {
  it('takes the comment before a block, and refuses unfenced code', () => {
    const text = 'Save `a.txt`:\n\n<!-- file: a.txt -->\n```text\nx\n```\n\n<!-- not run: why -->\n```sh\ny\n```\n';
    expect(parseBlocks('a.md', text)).toMatchObject([
      { place: 'a.md:4', language: 'text', text: 'x\n', file: 'a.txt' },
      { place: 'a.md:9', language: 'sh', text: 'y\n', notRun: 'why' },
    ]);
    expect(() => parseBlocks('a.md', 'Run:\n\n    skillcell doctor\n')).toThrow('a.md:3: code is fenced');
    expect(() => parseBlocks('a.md', '```sh\nx\n')).toThrow('a.md:1: the block does not end');
  });

  it('compares output line by line, with placeholders', () => {
    expect(asShown('a … c\n…\nz\n', 'a b c\n1\n2\nz\n')).toBe('a … c\n…\nz\n');
    expect(asShown('a … c\n', 'a b d\n')).toBe('a b d\n');
    expect(asShown('a\n', 'a\nb\n')).toBe('a\nb\n');
    expect(consoleEntries('$ a \\\n> b\nout\n$ c\n')).toEqual([
      { command: 'a \\\nb', output: 'out\n' },
      { command: 'c', output: '' },
    ]);
  });

  it('stops at a command that fails, and keeps place and variables between blocks', async () => {
    using newcomer = createNewcomer();
    expect(await newcomer.paste('mkdir x; cd x; export A=1')).toMatchObject({ code: 0 });
    expect(await newcomer.paste('echo "$A ${PWD##*/}" >&2')).toMatchObject({ output: '1 x\n' });
    expect(await newcomer.paste('false\necho on')).toEqual({ code: 1, output: '' });
  });
});
