import type { ExportReference, SkillCodeSpec } from '../../../../../src/contracts/skills/skill-code-spec.ts';
import { isThere, openFolder } from './skill-modules.ts';

/** A tool of a skill. */
export interface LoadedTool {
  name: string;
  description: string;
  /** A JSON schema. */
  input: unknown;
  run(args: unknown, signal: AbortSignal): Promise<unknown>;
}

/** The arguments of a call do not fit the tool's schema. */
export class ArgumentsFault extends Error {
  override readonly name = 'ArgumentsFault';
}

/** Missing modules, found before any module of the skill was loaded. */
export class MissingModules extends Error {
  override readonly name = 'MissingModules';
  readonly names: string[];

  constructor(names: string[]) {
    super(`the modules ${names.join(', ')} are missing`);
    this.names = names;
  }
}

type Fields = Record<string, unknown>;

/** Loads the toolsets and the provider of a skill, and makes their tools. */
export async function loadSkillCode(folder: string, spec: SkillCodeSpec): Promise<LoadedTool[]> {
  const address = openFolder(folder);
  const missing = spec.dependencies.filter((name) => !isThere(moduleName(name), address));
  if (missing.length > 0) throw new MissingModules(missing);
  const { job, skill } = spec;
  const tools: LoadedTool[] = [];
  for (const reference of spec.toolsets) {
    const title = `${reference.path}:${reference.name}`;
    const members = await membersOf(await loadExport(address, reference));
    if (members === undefined) throw new Error(`${title} is no list of tools`);
    for (const member of members) tools.push(await makeTool(member, title, { job, skill, config: {} }));
  }
  if (spec.provider !== undefined) tools.push(...(await providedTools(address, spec.provider, spec)));
  return tools;
}

/** The package name of a dependency, without its version requirement. */
function moduleName(dependency: string): string {
  return /^(?:@[^/@\s]+\/)?[^@\s<>=~^!]+/.exec(dependency.trim())?.[0] ?? dependency;
}

async function loadExport(address: string, { path, name }: ExportReference): Promise<unknown> {
  const url = new URL(path.split('/').map(encodeURIComponent).join('/'), address).href;
  const module = (await import(url)) as Fields;
  if (!Object.hasOwn(module, name)) throw new Error(`${path} exports no ${name}`);
  return module[name];
}

/** The tools of a toolset: a list, or an object or class that has a list, itself or in each instance. */
async function membersOf(given: unknown): Promise<readonly unknown[] | undefined> {
  if (Array.isArray(given)) return given;
  if (isClass(given)) return (await membersIn(given)) ?? (await membersIn(new given()));
  return await membersIn(given);
}

async function membersIn(holder: unknown): Promise<readonly unknown[] | undefined> {
  if (typeof holder === 'function' && !isClass(holder)) return await membersOf(await (holder as () => unknown)());
  if ((typeof holder !== 'object' && typeof holder !== 'function') || holder === null) return undefined;
  const fields = holder as Fields;
  if ('execute' in fields || 'init' in fields) return [fields];
  const own = fields['tools'] ?? fields['getTools'];
  const list: unknown = typeof own === 'function' ? await (own as () => unknown).call(holder) : own;
  if (Array.isArray(list)) return list;
  return typeof list === 'object' && list !== null ? Object.values(list) : undefined;
}

function isClass(given: unknown): given is new () => object {
  return typeof given === 'function' && /^class\b/.test(Function.prototype.toString.call(given));
}

async function providedTools(
  address: string,
  reference: ExportReference,
  { job, skill, tools }: SkillCodeSpec,
): Promise<LoadedTool[]> {
  const title = `${reference.path}:${reference.name}`;
  const given = await loadExport(address, reference);
  if (typeof given !== 'function') throw new Error(`${title} is no class`);
  const provider = new (given as new () => Fields)();
  const providerName = await member(provider, ['provider_name', 'providerName']);
  const supported = await member(provider, ['supported_tools', 'supportedTools']);
  if (!isTexts(supported)) throw new Error(`supported_tools of ${title} is no list of names`);
  const create = method(provider, ['create_tool', 'createTool']);
  if (create === undefined) throw new Error(`${title} has no create_tool`);
  const foreign = tools.find((row) => row.provider !== undefined && row.provider !== providerName);
  if (foreign !== undefined)
    throw new Error(
      `the tool ${foreign.name} is of the provider ${foreign.provider}, and ${title} is ${String(providerName)}`,
    );
  const wanted = tools.length > 0 ? tools : supported.map((name) => ({ name, config: {} }));
  const made: LoadedTool[] = [];
  for (const { name, config } of wanted) {
    if (!supported.includes(name)) throw new Error(`${title} does not support the tool ${name}`);
    const valid = await method(provider, ['validate_config', 'validateConfig'])?.(config);
    if (valid === false) throw new Error(`the config of the tool ${name} is not valid`);
    const context = { job, skill, config };
    made.push(await makeTool(await create(name, context, config), title, context, name));
  }
  return made;
}

async function member(holder: Fields, names: string[]): Promise<unknown> {
  const name = names.find((known) => known in holder);
  const value = name === undefined ? undefined : holder[name];
  return typeof value === 'function' ? await (value as () => unknown).call(holder) : value;
}

function method(holder: Fields, names: string[]): ((...args: unknown[]) => unknown) | undefined {
  const name = names.find((known) => typeof holder[known] === 'function');
  return name === undefined ? undefined : (holder[name] as (...args: unknown[]) => unknown).bind(holder);
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((text) => typeof text === 'string');
}

const RUN_NAMES = ['execute', 'invoke', '_call', 'call', 'run', 'func'];
const SCHEMA_NAMES = ['parameters', 'inputSchema', 'input', 'args_schema', 'argsSchema', 'schema'];

async function makeTool(given: unknown, title: string, context: object, ownName?: string): Promise<LoadedTool> {
  if (typeof given !== 'object' || given === null) throw new Error(`${title} holds something that is no tool`);
  const { init, ...outer } = given as Fields;
  const inner: unknown = typeof init === 'function' ? await (init as () => unknown)() : init;
  const holder = inner === undefined ? (given as Fields) : { ...outer, ...(inner as Fields) };
  const name = ownName ?? holder['id'] ?? holder['name'];
  if (typeof name !== 'string') throw new Error(`${title} holds a tool without a name`);
  const execute = method(holder, RUN_NAMES);
  if (execute === undefined) throw new Error(`the tool ${name} of ${title} has no execute`);
  const schema = SCHEMA_NAMES.map((known) => holder[known]).find(
    (value) => typeof value === 'object' && value !== null,
  );
  const description = holder['description'];
  return {
    name,
    description: typeof description === 'string' ? description : '',
    input: await jsonSchemaOf(schema),
    run: async (args, signal) => await execute(await parsed(schema, args), { ...context, signal, abort: signal }),
  };
}

interface ZodSchema {
  safeParseAsync(value: unknown): Promise<{ success: boolean; data?: unknown; error?: { issues: Issue[] } }>;
}

interface Issue {
  path: PropertyKey[];
  message: string;
}

function isZod(schema: unknown): schema is ZodSchema {
  return typeof schema === 'object' && schema !== null && '_zod' in schema && 'safeParseAsync' in schema;
}

async function jsonSchemaOf(schema: unknown): Promise<unknown> {
  if (!isZod(schema)) return schema ?? null;
  const { toJSONSchema } = (await import(new URL('./packages/zod.mjs', import.meta.url).href)) as {
    toJSONSchema(schema: unknown, options: object): unknown;
  };
  return toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
}

/** The arguments after parsing: defaults filled in, unknown keys removed. */
async function parsed(schema: unknown, args: unknown): Promise<unknown> {
  if (!isZod(schema)) return args;
  const { success, data, error } = await schema.safeParseAsync(args);
  if (success) return data;
  const faults = (error?.issues ?? []).slice(0, 5).map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new ArgumentsFault(faults.join('; '));
}
