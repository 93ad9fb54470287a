import { afterEach, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { LIMIT_CEILINGS, type JobLimits } from '../../../src/contracts/jobs/limits.ts';
import { SkillcellError } from '../../../src/contracts/errors/skillcell-error.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import type { Orchestrator, OrchestratorOptions } from '../../../src/jobs/orchestrator.ts';
import { createDockerRunner } from '../../../src/sandboxes/docker/docker-runner.ts';
import { createLocalRunner } from '../../../src/sandboxes/local/local-runner.ts';

const opened: Orchestrator[] = [];
afterEach(async () => {
  for (const orchestrator of opened.splice(0)) await orchestrator.close();
});

/** The error message for untyped options. */
function refusal(make: () => unknown): string {
  try {
    const made = make();
    if (typeof made === 'object' && made !== null && 'exec' in made) opened.push(made as Orchestrator);
  } catch (error) {
    expect(error).toBeInstanceOf(SkillcellError);
    expect(error).toMatchObject({ code: 'options.invalid', entry: { exitCode: 2 } });
    return (error as SkillcellError).message;
  }
  return expect.unreachable('the options were accepted');
}

const create = (options: OrchestratorOptions | Record<string, unknown>) => (): unknown => createOrchestrator(options);

describe('createOrchestrator() refuses with the field, the value and the allowed values', () => {
  it.each<[object, string]>([
    [{ concurrency: 0 }, 'concurrency must be a whole number from 1 to 10000, got 0.'],
    [{ concurrency: 1.5 }, 'concurrency must be a whole number from 1 to 10000, got 1.5.'],
    [{ concurrency: '4' }, 'concurrency must be a whole number from 1 to 10000, got "4".'],
    [{ queue: -1 }, 'queue must be a whole number from 0 to 10000000, got -1.'],
    [{ queue: Number.NaN }, 'queue must be a whole number from 0 to 10000000, got NaN.'],
    [{ ceilings: { memoryMib: Number.NaN } }, 'ceilings.memoryMib must be a whole number from 1 to 1048576, got NaN.'],
    [{ ceilings: { memory: 5 } }, 'there is no field ceilings.memory, got 5. Did you mean ceilings.memoryMib?'],
    [{ runner: 'docker' }, 'there is no field runner, got "docker". Did you mean runners?'],
    [{ statedir: '/tmp' }, 'there is no field statedir, got "/tmp". Did you mean stateDir?'],
    [{ memoryMib: 5 }, 'there is no field memoryMib, got 5. Did you mean ceilings.memoryMib?'],
    [{ pool: {} }, 'pool.size is missing: it must be a whole number from 0 to 1000.'],
    [{ pool: { size: -1 } }, 'pool.size must be a whole number from 0 to 1000, got -1.'],
    [{ pool: 3 }, 'pool must be an object, got 3.'],
    [{ pool: { size: 1, languages: [] } }, 'pool.languages must be a list that is not empty, got a list of 0.'],
    [
      { pool: { size: 1, languages: ['cobol'] } },
      'pool.languages.0 must be one of bash, javascript, python, typescript, got "cobol".',
    ],
    [
      { pool: { size: 1, languages: ['bash', 'bash'] } },
      'pool.languages must name each language once, got a list of 2.',
    ],
    [{ pool: { size: 1, isolation: 'vm' } }, 'must be one of none, namespace, container, kernel, got "vm".'],
    [
      { pool: { size: 1, idleMs: 2 ** 31 } },
      'pool.idleMs must be a whole number from 1 to 2147483647, got 2147483648.',
    ],
    [{ pool: { size: 1, checkIntervalMs: 0 } }, 'pool.checkIntervalMs must be a whole number from 1'],
    [{ pool: { size: 1, limits: { memoryMib: 0 } } }, 'pool.limits.memoryMib must be a whole number from 1'],
    [
      { pool: { size: 1, limits: { runTimeoutMs: 50 } } },
      'there is no field pool.limits.runTimeoutMs, got 50. There are pool.limits.memoryMib, pool.limits.cpus, pool.limits.pids, pool.limits.workspaceMib, pool.limits.workspaceInodes.',
    ],
    [{ pool: { size: 1, limits: { graceMs: 5 } } }, 'there is no field pool.limits.graceMs, got 5. There are'],
    [{ sweepIntervalMs: -5 }, 'sweepIntervalMs must be a whole number from 0 to 2147483647, got -5.'],
    [{ keptArtifactBytes: -1 }, 'keptArtifactBytes must be a whole number'],
    [{ stateDir: '' }, 'stateDir must be a text that is not empty, got "".'],
    [{ allowUnisolated: 'no' }, 'allowUnisolated must be true or false, got "no".'],
    [{ runners: [] }, 'runners must be a list that is not empty, got a list of 0.'],
    [{ runners: ['docker'] }, 'runners.0 must be a runner of contract 1, such as createLocalRunner(), got "docker".'],
    [{ runners: [null] }, 'runners.0 must be a runner of contract 1, such as createLocalRunner(), got null.'],
    [{ runners: [{ ...createLocalRunner(), contract: 2 }] }, 'runners.0 must be a runner of contract 1'],
    ...(
      [
        [{ name: undefined }, 'runners.0.name is missing: it must be a text that is neither empty nor auto.'],
        [{ name: '' }, 'runners.0.name must be a text that is neither empty nor auto, got "".'],
        [{ name: 'auto' }, 'runners.0.name must be a text that is neither empty nor auto, got "auto".'],
        [{ levels: undefined }, 'runners.0.levels is missing: it must be a list of levels that is not empty.'],
        [{ levels: 'none' }, 'runners.0.levels must be a list of levels that is not empty, got "none".'],
        [{ levels: [] }, 'runners.0.levels must be a list of levels that is not empty, got a list of 0.'],
        [{ levels: ['none', 'vm'] }, 'runners.0.levels.1 must be one of none, namespace, container, kernel, got "vm".'],
      ] as const
    ).map(([fields, expected]): [object, string] => [{ runners: [{ ...createLocalRunner(), ...fields }] }, expected]),
    [
      { runners: [createLocalRunner(), createDockerRunner(), createLocalRunner()] },
      'runners.2.name must be a name that no runner before it has, got "local".',
    ],
    [{ tools: { add: {} } }, 'tools must be a list, got an object.'],
    [{ tools: null }, 'tools must be a list, got null.'],
    [{ model: 'anthropic/claude' }, "model must be a gateway or a model of the AI SDK, such as anthropic('…'), got"],
    [{ skills: '/skills' }, 'skills must be the result of loadSkillsSubsystem or openSkillLibrary, got "/skills".'],
    [{ logger: console.log }, 'logger must be a pino logger, such as createLogger(), got a function.'],
    [
      { runners: [createLocalRunner()], pool: { size: 1, isolation: 'container' } },
      'pool.isolation must be a level of the runners, one of namespace, none, got container.',
    ],
    [
      { ceilings: { memoryMib: 256 }, pool: { size: 1, limits: { memoryMib: 512 } } },
      'pool.limits.memoryMib must be at most its ceiling, 256, got 512.',
    ],
  ])('%j', (options, expected) => {
    expect(refusal(create(options))).toContain(expected);
    expect(refusal(create(options))).toMatch(/^Cannot create the orchestrator: /);
  });

  it('a number as options', () => {
    expect(refusal(() => createOrchestrator(5 as never))).toBe(
      'Cannot create the orchestrator: the options must be an object, got 5.',
    );
  });

  it('the same values with the same messages after zod is loaded', async () => {
    await import('zod');
    expect(refusal(create({ concurrency: 0 }))).toContain('must be a whole number from 1 to 10000, got 0.');
  });
});

describe('createOrchestrator() refuses a tool with the field, the value and the allowed values', () => {
  const execute = async (): Promise<null> => null;
  const types = 'array, boolean, integer, null, number, object, string';
  const ofTypes = `must be one of ${types}, or a list of them`;
  const whole = { id: 'add', description: 'adds', execute };
  class ForeignSchema {
    type = 'object';
  }

  it.each<[unknown, string]>([
    [{ id: 'add', description: 'adds' }, 'tools.1.execute is missing: it must be a function.'],
    [{ ...whole, execute: 'x' }, 'tools.1.execute must be a function, got "x".'],
    [{ ...whole, description: 5 }, 'tools.1.description must be a text, got 5.'],
    [{ id: 'add', execute }, 'tools.1.description is missing: it must be a text.'],
    [null, 'tools.1 must be an object, got null.'],
    ['add', 'tools.1 must be an object, got "add".'],
    ...(
      [
        [5, ' must be a zod schema or an object with a JSON schema, got 5.'],
        ['object', ' must be a zod schema or an object with a JSON schema, got "object".'],
        [null, ' must be a zod schema or an object with a JSON schema, got null.'],
        [[], ' must be a zod schema or an object with a JSON schema, got a list of 0.'],
        [new ForeignSchema(), ' must be a zod schema or an object with a JSON schema, got an object.'],
        [{ type: 'nonsense' }, `.type ${ofTypes}, got "nonsense".`],
        [{ type: 5 }, `.type ${ofTypes}, got 5.`],
        [{ type: ['string', 'text'] }, `.type ${ofTypes}, got a list of 2.`],
        [{ type: 'object', properties: { a: { type: 'text' } } }, `.properties.a.type ${ofTypes}, got "text".`],
        [{ type: 'object', properties: { 'a b': 5 } }, '.properties["a b"] must be a JSON schema, got 5.'],
        [{ type: 'array', items: { type: 'text' } }, `.items.type ${ofTypes}, got "text".`],
        [{ anyOf: [{ type: 'string' }, { type: 'text' }] }, `.anyOf.1.type ${ofTypes}, got "text".`],
        [{ $defs: { a: { type: 'text' } } }, `.$defs.a.type ${ofTypes}, got "text".`],
        [{ properties: ['a'] }, '.properties.0 must be a JSON schema, got "a".'],
        [{ properties: { a: [] } }, '.properties.a must be a JSON schema, got a list of 0.'],
        [{ if: { type: 'text' } }, `.if.type ${ofTypes}, got "text".`],
        [{ dependencies: { a: ['b'], c: 5 } }, '.dependencies.c must be a JSON schema, got 5.'],
        [z.date(), ' must be a zod schema that can be written as a JSON schema (Date cannot be represented'],
        [{ _zod: 5 }, ' must be a zod schema that can be written as a JSON schema ('],
      ] as const
    ).map(([parameters, expected]): [unknown, string] => [{ ...whole, input: parameters }, `tools.1.input${expected}`]),
  ])('%j', (tool, expected) => {
    const tools = [{ ...whole, id: 'first' }, tool];
    expect(refusal(create({ tools }))).toContain(`Cannot create the orchestrator: ${expected}`);
  });

  it.each<[unknown, string]>([
    [5, 'tools.0.id must be a text, got 5.'],
    ['', 'tools.0.id must be names of letters, digits, _ and - joined by dots, such as crm.find, got "".'],
    ['crm..find', 'tools.0.id must be names of letters'],
    ['../admin', 'tools.0.id must be names of letters'],
    ['x'.repeat(201), 'tools.0.id must be a text with at most 200 characters'],
  ])('with the id %j', (id, expected) => {
    expect(refusal(create({ tools: [{ ...whole, id }] }))).toContain(expected);
  });

  it('with the id of another tool', () => {
    expect(refusal(create({ tools: [whole, { ...whole }] }))).toContain(
      'tools.1.id must be an id that no tool before it has, got "add".',
    );
  });

  it('but no tool whose parameters can be enforced', () => {
    const recursive = { type: 'object', properties: { next: {} } };
    recursive.properties.next = { $ref: '#' };
    const taken = [
      {},
      { type: ['string', 'null'] },
      { type: 'object', properties: { a: { type: 'number' }, b: true }, additionalProperties: false },
      { type: 'array', items: [{ type: 'string' }], prefixItems: [{ type: 'integer' }] },
      { enum: ['a', 'b'] },
      Object.assign(Object.create(null), { type: 'object' }),
      recursive,
      z.strictObject({ a: z.optional(z.number()) }),
    ];
    const tools = [undefined, ...taken].map((input, index) => ({ ...whole, id: `tool-${index}`, input }));
    expect(() => opened.push(createOrchestrator({ tools }))).not.toThrow();
  });
});

describe('runners refuse with the field, the value and the allowed values', () => {
  it.each<[() => unknown, string]>([
    [
      () => createLocalRunner({ bundel: 1 } as never),
      'Cannot create the local runner: there is no field bundel, got 1.',
    ],
    [() => createLocalRunner({ bundle: 'x' } as never), 'bundle must be an object, got "x".'],
    [
      () => createDockerRunner({ flavour: 'data' } as never),
      'there is no field flavour, got "data". Did you mean flavor?',
    ],
    [() => createDockerRunner({ flavor: 'fat' } as never), 'flavor must be one of slim, data, network, got "fat".'],
    [() => createDockerRunner({ runtime: '' }), 'runtime must be a text that is not empty, got "".'],
    [() => createDockerRunner({ host: 5 } as never), 'Cannot create the docker runner: host must be a text, got 5.'],
    [
      () => createDockerRunner({ host: 'nope' }),
      'Cannot create the docker runner: host must name an engine, but its address has none of the forms unix:///PATH, tcp://HOST:PORT, http://HOST:PORT or https://HOST:PORT, got nope.',
    ],
    [
      () => createDockerRunner({ host: 'unix://run/a.sock' }),
      'its socket is not an absolute path, got unix://run/a.sock.',
    ],
    [
      () => createDockerRunner({ host: 'tcp://127.0.0.1:0' }),
      'host must name an engine, but its port is not valid, got 0.',
    ],
    [() => createDockerRunner({ host: 'tcp://127.0.0.1:99999' }), 'its address is not HOST:PORT alone, got one that'],
    [
      () => createDockerRunner({ host: 'tcp://a:hunter2@b:1' }),
      'not HOST:PORT alone, got one that begins with tcp://.',
    ],
  ])('%s', (make, expected) => {
    expect(refusal(make)).toContain(expected);
  });
});

describe('ceilings', () => {
  it('lower the defaults, for each limit and for the pool', async () => {
    const local = createLocalRunner();
    const seen: Partial<JobLimits>[] = [];
    const orchestrator = createOrchestrator({
      runners: [
        {
          ...local,
          start(spec, options) {
            seen.push(spec.limits);
            return local.start(spec, options);
          },
        },
      ],
      allowUnisolated: true,
      ceilings: { memoryMib: 200, cpus: 0.5, pids: 50, workspaceMib: 16, workspaceInodes: 500, runTimeoutMs: 1_500 },
      pool: { size: 1, isolation: 'none' },
    });
    opened.push(orchestrator);
    await orchestrator.warm();
    const expected = { memoryMib: 200, cpus: 0.5, pids: 50, workspaceMib: 16, workspaceInodes: 500 };
    expect(seen[0]).toEqual(expected);
    const code = 'await new Promise((resolve) => setTimeout(resolve, 60_000));';
    const result = await orchestrator.exec({ isolation: 'none', code });
    // The pool's sandboxes fit such a job, and its clock is the lowered one.
    expect(result).toMatchObject({ outcome: 'timeout', error: { name: 'RunTimeout' }, usage: { warm: true } });
    const over = orchestrator.exec({ code, limits: { memoryMib: 201 } });
    await expect(over).rejects.toThrow('limits.memoryMib must be at most 200, got 201');
  });

  it.each(Object.keys(LIMIT_CEILINGS))('of %s with an invalid value are refused', (name) => {
    for (const value of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, '5', null]) {
      expect(refusal(create({ ceilings: { [name]: value } }))).toContain(`ceilings.${name} must be`);
    }
  });
});
