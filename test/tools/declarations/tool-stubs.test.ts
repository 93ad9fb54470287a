import { expect, test } from 'vitest';
import { toolStub, toolStubs } from '../../../src/tools/declarations/tool-stubs.ts';
import type { StubTool } from '../../../src/tools/declarations/tool-places.ts';
import { largeSchemas } from './hostile-schemas.ts';
import { cpuMs } from '../../fixtures/cpu-ms.ts';

/** A tool whose input has one field `a` of this schema; `$defs` go to the root. */
function toolWith(schema: unknown, definitions: Record<string, unknown> = {}): StubTool {
  return {
    id: 'x.y',
    description: '',
    input: { type: 'object', properties: { a: schema }, required: ['a'], additionalProperties: false, ...definitions },
    output: { type: 'null' },
  };
}

/** The type of the field: the text between its name and the end of the function. */
function typescriptOf(schema: unknown, definitions?: Record<string, unknown>): string {
  const text = toolStub(toolWith(schema, definitions), 'typescript');
  return /y\(input: \{ (?:\/\*\*.*\*\/ )?a: (.*) \}\): Promise<null>;/.exec(text)?.[1] ?? text;
}

function pythonOf(schema: unknown, definitions?: Record<string, unknown>): string {
  const text = toolStub(toolWith(schema, definitions), 'python');
  return /def y\(\*, a: (.*)\) -> None: \.\.\./.exec(text)?.[1] ?? text;
}

const tuple = [{ type: 'string' }, { type: 'number' }];

test.each([
  ['a text', { type: 'string', contentEncoding: undefined }, 'string', 'str'],
  ['no rules', {}, 'unknown', 'Any'],
  ['no schema', 5, 'unknown', 'Any'],
  ['true', true, 'unknown', 'Any'],
  ['false', false, 'never', 'Never'],
  ['an unknown type', { type: 'file' }, 'unknown', 'Any'],
  ['bytes', { type: 'string', 'x-skillcell-bytes': true }, 'Uint8Array', 'bytes'],
  ['several types', { type: ['string', 'boolean', 'null'] }, 'string | boolean | null', 'str | bool | None'],
  ['nullable', { type: 'number', nullable: true }, 'number | null', 'float | None'],
  ['const', { const: 'a"\u2028' }, '"a\\"\\u2028"', 'Literal["a\\"\\u2028"]'],
  ['enum', { type: 'string', enum: ['a', 'b', null] }, '"a" | "b" | null', 'Literal["a", "b", None]'],
  [
    'enum of all kinds',
    { enum: [1, 1.5, -0, true, [1], { a: 1 }] },
    '1 | 1.5 | 0 | true | unknown[] | { [key: string]: unknown }',
    'Literal[1, 0, True] | float | list[Any] | dict[str, Any]',
  ],
  ['a list', { type: 'array', items: { type: ['string', 'null'] } }, '(string | null)[]', 'list[str | None]'],
  ['a list of anything', { type: 'array' }, 'unknown[]', 'list[Any]'],
  ['a tuple of 2020-12', { prefixItems: tuple, items: false }, '[string, number]', 'tuple[str, float]'],
  ['a tuple of draft-07', { items: tuple, additionalItems: false }, '[string, number]', 'tuple[str, float]'],
  [
    'a tuple with a rest',
    { prefixItems: tuple, items: { type: 'boolean' } },
    '[string, number, ...boolean[]]',
    'list[str | float | bool]',
  ],
  ['an object without keys', { type: 'object' }, '{ [key: string]: unknown }', 'dict[str, Any]'],
  ['an object of others', { additionalProperties: { type: 'integer' } }, '{ [key: string]: number }', 'dict[str, int]'],
  ['an empty object', { type: 'object', additionalProperties: false }, '{ [key: string]: never }', 'dict[str, Never]'],
  [
    'anyOf',
    { anyOf: [{ type: 'string' }, { anyOf: [{ const: 1 }, { type: 'string' }] }] },
    'string | 1',
    'Literal[1] | str',
  ],
  ['oneOf with anything', { oneOf: [{ type: 'string' }, {}] }, 'unknown', 'Any'],
  ['an unknown $ref', { $ref: '#/$defs/none' }, 'unknown', 'Any'],
  ['a $ref to a property that all objects have', { $ref: '#/constructor' }, 'unknown', 'Any'],
  ['a $ref elsewhere', { $ref: 'https://example.com/a.json' }, 'unknown', 'Any'],
  [
    'a list in a union in a list',
    { items: { anyOf: [{ items: { type: 'null' } }, { const: -1 }] } },
    '(null[] | -1)[]',
    'list[Literal[-1] | list[None]]',
  ],
])('%s', (_, schema, typescript, python) => {
  expect({ typescript: typescriptOf(schema), python: pythonOf(schema) }).toEqual({ typescript, python });
});

test('a tuple that may end early has optional items', () => {
  const schema = { prefixItems: tuple, minItems: 1 };
  expect(toolStub(toolWith(schema), 'typescript')).toContain('y(input: { a: [string, number?] })');
  expect(toolStub(toolWith(schema), 'python')).toContain('def y(*, a: list[str | float])');
});

test('objects show their keys, with descriptions and rules in comments', () => {
  const schema = {
    type: 'object',
    properties: {
      name: { type: 'string', description: 'Part of the name.\nOf "any" case.', maxLength: 50 },
      limit: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER, default: 20 },
      tags: { type: 'array', items: { type: 'string', format: 'uri' } },
      'odd key': { type: 'boolean' },
      from: { not: { type: 'string' }, patternProperties: { '^x-': { type: 'number' } } },
    },
    required: ['name', 'other'],
  };
  const tool = { id: 'crm.find', description: 'Finds.', input: schema, output: { type: 'array', items: schema } };
  expect(toolStub({ ...tool, output: undefined }, 'typescript')).toBe(`declare module 'skillcell' {
  export const tools: {
    crm: {
      /** Finds. */
      find(input: {
        /**
         * Part of the name.
         * Of "any" case.
         * (maxLength 50)
         */
        name: string;
        /** (a whole number, minimum 1, default 20) */
        limit?: number;
        /** (each: format "uri") */
        tags?: string[];
        "odd key"?: boolean;
        /** (keys like "^x-", more rules by not) */
        from?: { [key: string]: number };
        other: unknown;
      }): Promise<unknown>;
    };
  };
}
`);
  expect(toolStub({ ...tool, input: { properties: { a: schema.properties.name, b: {} } } }, 'python'))
    .toBe(`CrmFindResultItem = TypedDict("CrmFindResultItem", {
    # Part of the name.
    # Of "any" case.
    # (maxLength 50)
    "name": str,
    # (a whole number, minimum 1, default 20)
    "limit": NotRequired[int],
    # (each: format "uri")
    "tags": NotRequired[list[str]],
    "odd key": NotRequired[bool],
    # (keys like "^x-", more rules by not)
    "from": NotRequired[dict[str, float]],
    "other": Any,
})
class tools:
    class crm:
        # Finds.
        @staticmethod
        def find(
            *,
            # Part of the name.
            # Of "any" case.
            # (maxLength 50)
            a: str = ...,
            b: Any = ...,
        ) -> list[CrmFindResultItem]: ...
`);
});

test('a recursive type gets a name, and a cycle without a field in it is cut', () => {
  const $defs = {
    node: {
      type: 'object',
      description: 'A part.',
      properties: { next: { $ref: '#/$defs/node' }, all: { items: { $ref: '#' } } },
    },
    loop: { anyOf: [{ $ref: '#/$defs/loop' }, { type: 'string' }] },
  };
  const input = { $defs, type: 'object', properties: { a: { $ref: '#/$defs/node' }, b: { $ref: '#/$defs/loop' } } };
  expect(toolStub({ id: 'x.y', description: '', input }, 'typescript')).toBe(`declare module 'skillcell' {
  /** A part. */
  type Node = { next?: Node; all?: XY[] };
  type Loop = unknown | string;
  type XY = { a?: Node; b?: Loop };
  export const tools: {
    x: {
      y(input?: XY): Promise<unknown>;
    };
  };
}
`);
  expect(toolStub({ id: 'x.y', description: '', input }, 'python')).toBe(`# A part.
class Node(TypedDict):
    next: NotRequired[Node]
    all: NotRequired[list[XY]]
Loop = Any | str
class XY(TypedDict):
    a: NotRequired[Node]
    b: NotRequired[Loop]
class tools:
    class x:
        @staticmethod
        def y(*, a: Node = ..., b: Loop = ...) -> Any: ...
`);
});

test('a reference by an anchor or by the name of the schema gets the type that the check enforces', () => {
  const input = {
    $id: 'https://example.org/a',
    properties: {
      here: { $anchor: 'place', type: 'boolean' },
      named: { $ref: 'https://example.org/a#/properties/here' },
      anchored: { $ref: 'https://example.org/a#place' },
    },
  };
  expect(toolStub({ id: 'x', description: '', input }, 'python')).toBe(`Here = bool
class tools:
    @staticmethod
    def x(*, here: bool = ..., named: Here = ..., anchored: Here = ...) -> Any: ...
`);
});

test('allOf is an intersection, and its inline objects become one object', () => {
  const $defs = { base: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] } };
  const schema = {
    type: 'object',
    properties: { a: { type: 'string' } },
    allOf: [{ properties: { b: { type: 'number' } }, required: ['a'] }, { $ref: '#/$defs/base' }],
  };
  expect(typescriptOf(schema, { $defs })).toBe('{ a: string; b?: number } & Base');
  expect(toolStub({ id: 'x', description: '', input: { $defs, ...schema } }, 'python')).toContain(
    'def x(*, a: str, b: float = ..., id: str) -> Any',
  );
  expect(toolStub(toolWith(schema, { $defs }), 'python')).toContain('class XYA(Base, XYAOwn): ...\n');
});

test('keys that are only listed as names are fields', () => {
  const rule = { propertyNames: { type: 'string', enum: ['a', 'b'] }, additionalProperties: { type: 'boolean' } };
  expect(typescriptOf({ ...rule, required: ['b'] })).toBe('{ a?: boolean; b: boolean }');
  expect(typescriptOf({ required: ['b'], additionalProperties: { type: 'null' } })).toBe(
    '{ b: null } & { [key: string]: null }',
  );
  expect(typescriptOf({ required: ['b'], additionalProperties: false })).toBe('{ b: unknown }');
});

test('a union of key sets tells in Python that there are other keys', () => {
  const input = { properties: { a: {} }, anyOf: [{ properties: { b: {} } }, { properties: { c: {} } }] };
  expect(toolStub({ id: 'x', description: '', input }, 'python')).toContain('def x(*, a: Any = ..., **others: Any)');
  expect(toolStub({ id: 'x', description: '', input }, 'typescript')).toContain(
    'x(input: { a?: unknown } & ({ b?: unknown } | { c?: unknown }))',
  );
});

test('a comment does not repeat a hint', () => {
  const fields = {
    mail: { type: 'string', format: 'email', pattern: '^.*@.*$' },
    data: { type: 'string', format: 'base64', contentEncoding: 'base64' },
    row: { prefixItems: tuple, items: false, minItems: 2, maxItems: 2 },
    names: { propertyNames: { type: 'string' }, default: { a: 1, b: ['c'] } },
    way: { default: { a: 1, '*/': null } },
  };
  const text = toolStub({ id: 'x', description: '', input: { properties: fields } }, 'typescript');
  expect(text.split('\n').filter((line) => line.includes('/**'))).toEqual([
    '      /** (format "email") */',
    '      /** (format "base64") */',
    '      /** (default {"a": 1, "*\\/": null}) */',
  ]);
});

test('keys beside the named ones have their type', () => {
  const schema = { type: 'object', properties: { a: {} }, additionalProperties: { type: 'string' } };
  expect(typescriptOf(schema)).toBe('{ a?: unknown } & { [key: string]: string }');
  expect(toolStub({ id: 'x', description: '', input: schema }, 'python')).toContain(
    'def x(*, a: Any = ..., **others: str)',
  );
});

test.each([
  ['crm.find-all', true, true],
  ['crm.then', true, false],
  ['crm.__proto__', true, true],
  ['call', true, true],
  ['crm.call', false, false],
  ['crm._own', false, true],
  ['crm.__own', false, true],
  ['crm.find.aio', false, true],
  ['crm.import', false, true],
  ['crm.None', false, true],
  ['a.b.c.d.e.f.g', true, true],
])('a program calls %s by its id if its name is not usable', (id, inTypescript, inPython) => {
  const tool = { id, description: '' };
  expect(toolStub(tool, 'typescript').includes(`call(id: ${JSON.stringify(id)}, input?: unknown)`)).toBe(inTypescript);
  expect(toolStub(tool, 'python').includes(`def call(id: Literal[${JSON.stringify(id)}], input: Any = ..., /)`)).toBe(
    inPython,
  );
});

test('a tool whose id is a prefix of other ids is called by its id', () => {
  const text = toolStubs(
    [
      { id: 'crm', description: '' },
      { id: 'crm.find', description: '' },
    ],
    'typescript',
  ).text;
  expect(text).toContain('crm: {\n      find(');
  expect(text).toContain('call(id: "crm", ');
});

test('an argument that is no Python name makes all arguments one dict', () => {
  const input = { properties: { class: { type: 'string' } } };
  expect(toolStub({ id: 'x', description: '', input }, 'python')).toContain('def x(input: XInput = ..., /) -> Any');
});

test('descriptions stay in their comments', () => {
  const description = 'One. */ stolen: 1; /*\u2028stolen\rstolen """\nstolen\u202e\u0000\u0085stolen\n```\nstolen';
  const tool = { id: 'x', description, input: { properties: { a: { description } } } };
  for (const language of ['typescript', 'python'] as const) {
    const lines = toolStub(tool, language)
      .split('\n')
      .filter((line) => line.includes('stolen'));
    expect(lines).toHaveLength(12);
    for (const line of lines) expect(line).toMatch(language === 'python' ? /^ *# / : /^ *\* /);
    expect(toolStub(tool, language)).not.toMatch(/^\s*```|\u2028|\u202e|\0/m);
    if (language === 'typescript') expect(toolStub(tool, language)).not.toContain('*/ s');
    expect(toolStubs([tool], language, { budgetTokens: 10 }).text).toMatch(/^(\/\/|#) x: One\.\n$/);
  }
});

test('tools beyond the budget become names with first sentences, and then only the first of those', () => {
  const tools = Array.from({ length: 30 }, (_, at) => ({
    id: `crm.find${at}`,
    description: 'Finds e.g. customers. Says more.',
    input: { properties: { name: { type: 'string', description: 'A name.' } } },
  }));
  const whole = toolStubs(tools, 'typescript');
  expect(whole.complete).toBe(true);
  const tokens = Math.ceil(Buffer.byteLength(whole.text) / 4);
  expect(toolStubs(tools, 'typescript', { budgetTokens: tokens })).toEqual(whole);
  const briefs = toolStubs(tools, 'python', { budgetTokens: 500 });
  expect(briefs.complete).toBe(false);
  expect(briefs.text.split('\n')[1]).toBe('# crm.find1: Finds e.g. customers.');
  expect(briefs.text.trimEnd().split('\n')).toHaveLength(30);
  const cut = toolStubs(tools, 'typescript', { budgetTokens: 100 });
  expect(Buffer.byteLength(cut.text)).toBeLessThanOrEqual(400);
  expect(cut.text).toMatch(/\n\/\/ … and 2\d more\n$/);
  expect(toolStubs([], 'python')).toEqual({ text: '', complete: true });
});

test('only the tools that fit are written, of thousands', () => {
  const description = 'Does things. '.repeat(200);
  const input = { properties: Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`p${at}`, { description }])) };
  const tools = Array.from({ length: 20_000 }, (_, at) => ({ id: `a${at % 50}.b${at}`, description, input }));
  const languages = ['typescript', 'python'] as const;
  const ofSome = cpuMs(() => {
    for (const language of languages) for (const tool of tools.slice(0, 50)) toolStub(tool, language);
  });
  const ofAll = cpuMs(() => {
    for (const language of languages)
      expect(toolStubs(tools, language).text).toMatch(/ Does things\.\n.* … and 19\d\d\d more\n$/);
  });
  // Writing all of them would take four hundred times as long as writing fifty.
  expect(ofAll).toBeLessThan(20 * ofSome);
});

test('a schema of any size and depth gives a text of bounded size in a short time', () => {
  const spent = cpuMs(() => {
    for (const schema of largeSchemas()) {
      for (const language of ['typescript', 'python'] as const) {
        expect(toolStub({ id: 'x', description: '', input: schema, output: schema }, language).length).toBeLessThan(
          200_000,
        );
      }
    }
  });
  expect(spent).toBeLessThan(5_000);
});
