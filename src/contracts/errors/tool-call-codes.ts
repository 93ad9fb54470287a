/** Why a call of a tool did not give a value, by the code that the calling program reads. `docs/errors.md` lists them. */
export const TOOL_CALL_CODES = {
  'tool.not-allowed': 'The job does not have this tool: name it in `tools` of the job, or with `--tool`.',
  'tool.invalid-arguments':
    'The arguments do not fit the tool\u2019s schema, or are no JSON and bytes. The message names the first faults.',
  'tool.invalid-result': 'What the tool returned does not fit its own schema, or is no JSON and bytes.',
  'tool.too-large': 'Arguments or result are over their cap; nothing of them was handed on.',
  'tool.timeout': 'The tool took longer than its time. Whether it had its effect is not known.',
  'tool.failed': 'The tool failed. The message is the tool\u2019s own where it chose one.',
  'tool.denied': 'Whoever approves calls did not allow this one, or gave no answer in time.',
  'tool.limit': 'The job has used up its calls, or those of this tool, or has too many under way.',
  'tool.effect-unknown':
    'An earlier attempt made the same call and was cut off: it may have had its effect, and is not made again.',
  'tool.job-over': 'The job or the run that made the call is over.',
  'skill-code.failed': 'The code of a skill, which is behind this tool, failed in its own sandbox.',
  'mcp.unavailable': 'The MCP server that has this tool does not answer, or ended while it was called.',
} as const;

/** A code of a failed call. */
export type ToolCallCode = keyof typeof TOOL_CALL_CODES;
