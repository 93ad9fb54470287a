const bridge = globalThis[Symbol.for('skillcell.bridge')];
if (bridge === undefined) throw new Error('Cannot load skillcell: this process is no skillcell job.');

/** Calls a tool of the host. Rejects when the call is refused or fails. */
export const callTool = (name, args = {}) => bridge.call('tool', name, args);

/** Sets the job's value: anything with a JSON form, at most 256 KiB of it. */
export const setValue = (value) => bridge.setValue(value);

/** Reads a file of one of the job's skills, as text, or as bytes when encoding is null. */
export const readSkillFile = (skill, path, encoding = 'utf8') => {
  const bytes = bridge.readSkillFile(skill, path);
  return encoding === null ? bytes : bytes.toString(encoding);
};

export default { callTool, setValue, readSkillFile };
