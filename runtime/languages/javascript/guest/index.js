import Module from 'node:module';

const held = Module[Symbol.for('skillcell.bridge')];
if (held === undefined) throw new Error('Cannot load skillcell: this process is not the program of a job.');
const bridge = (held.bridge ??= held.connect());

/** A call that returned no value. `code` names the reason: a code listed in docs/errors.md. */
export const ToolCallError = bridge.ToolCallError;

/** Names that the language itself looks up on any value, so they are never part of a tool's id. */
const NO_SEGMENTS = new Set(['then', 'toJSON', 'constructor', 'prototype', '__proto__', 'toString', 'valueOf']);
/** Not an arrow function, so that its proxy can be called; the function itself is never inspected. */
const nothing = () => undefined;

const segment = (path) =>
  new Proxy(nothing, {
    apply: (_target, _self, [args = {}]) => bridge.call('tool', path, args),
    get: (_target, key) => (typeof key === 'symbol' || NO_SEGMENTS.has(key) ? undefined : segment(`${path}.${key}`)),
    has: () => false,
    ownKeys: () => [],
    getOwnPropertyDescriptor: () => undefined,
  });

const call = (id, args = {}) => bridge.call('tool', String(id), args);

/** The job's tools: `await tools.crm.find({ … })`. For ids that are no such path: `await tools.call('crm.find', { … })`. */
export const tools = new Proxy(Object.freeze(Object.create(null)), {
  get: (_target, key) => {
    if (key === 'call') return call;
    return typeof key === 'symbol' || NO_SEGMENTS.has(key) ? undefined : segment(key);
  },
  has: () => false,
});

/** Calls a tool of the host by its id. */
export const callTool = call;

/** Sets the job's value: anything with a JSON form, by default at most 256 KiB of it. */
export const setValue = (value) => bridge.setValue(value);

/** Shows a value as a result of the run: as the given media type, or in the forms that the value offers. Only in a session. */
export const display = (value, mediaType) => {
  if (bridge.display === undefined) throw new Error('Cannot display: this program runs in no session.');
  bridge.display(value, mediaType);
};

/** Reads a file of one of the job's skills, as text, or as bytes when encoding is null. */
export const readSkillFile = (skill, path, encoding = 'utf8') => {
  const bytes = bridge.readSkillFile(skill, path);
  return encoding === null ? bytes : bytes.toString(encoding);
};

export default { ToolCallError, tools, callTool, setValue, display, readSkillFile };
