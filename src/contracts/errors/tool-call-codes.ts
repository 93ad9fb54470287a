/** Reasons why a tool call gave no value, by the code that the calling program reads. `docs/errors.md` lists them. */
export const TOOL_CALL_CODES = {
  'tool.not-allowed': 'The job does not have this tool: name it in `tools` of the job, or with `--tool`.',
  'tool.invalid-arguments':
    'The arguments do not fit the tool\u2019s schema, or are not JSON and bytes. The message names the first faults.',
  'tool.invalid-result': 'The result of the tool does not fit its own schema, or is not JSON and bytes.',
  'tool.too-large': 'Arguments or result exceed their limit; nothing of them was passed on.',
  'tool.timeout': 'The tool exceeded its time limit. Its effect is unknown.',
  'tool.failed': 'The tool failed. The message comes from the tool if it set one.',
  'tool.denied': 'The approver did not allow the call, or gave no answer in time.',
  'tool.limit': 'The job has used up its calls or its calls of this tool, or has too many calls under way.',
  'tool.effect-unknown':
    'An earlier attempt made the same call and was cut off: the call may have had its effect, and is not repeated.',
  'tool.job-over': 'The job or the run that made the call is over.',
  'skill-code.failed': 'The skill code behind this tool failed in its own sandbox.',
  'mcp.unavailable': 'The MCP server of this tool does not answer, or ended during the call.',
} as const;

/** A code of a failed tool call. */
export type ToolCallCode = keyof typeof TOOL_CALL_CODES;
