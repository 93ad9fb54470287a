import type { ScanPattern } from './find-patterns.ts';

/** Markers that prompts are assembled with, and lines that look like turns of a conversation. */
export const MARKER_PATTERNS: readonly ScanPattern[] = [
  {
    code: 'scan.marker',
    needs: [['active']],
    pattern: /\[\s?(?:end\s)?active[\s_-]skills?\s?\]/g,
    message: 'A marker of the block that holds skills.',
  },
  {
    code: 'scan.marker',
    needs: [['skill_content', 'available_skills', 'skill-content', 'available-skills']],
    pattern: /<\s?\/?\s?(?:skill[_-]content|available[_-]skills)\b/g,
    message: 'A marker of the block that holds skills.',
  },
  {
    code: 'scan.marker',
    needs: [['<|']],
    pattern:
      /<\|\s?(?:im_start|im_end|im_sep|system|user|assistant|endoftext|end_of_text|begin_of_text|eot_id|start_header_id|end_header_id|endofprompt|start|end|message|channel)\s?\|>/g,
    message: 'A token of a chat template.',
  },
  {
    code: 'scan.marker',
    needs: [['inst', 'sys', 'start_of_turn', 'end_of_turn']],
    pattern: /\[\s?\/?\s?inst\s?\]|<<\s?\/?\s?sys\s?>>|<\s?(?:start|end)_of_turn\s?>/g,
    message: 'A token of a chat template.',
  },
  {
    code: 'scan.role-marker',
    needs: [['system', 'human', 'assistant', 'developer', 'tool_result', 'function_result']],
    pattern:
      /<\s?\/?\s?(?:system|system[_-](?:prompt|message|instructions?|reminder)|developer|human|assistant|tool_results?|function_results?)\s?>/g,
    place: 'prose',
    message: 'An element of a prompt.',
  },
  {
    code: 'scan.role-marker',
    needs: [['system', 'human', 'assistant', 'developer']],
    pattern: /\n[\t >*_#]{0,6}(?:system|human|assistant|developer)[*_]{0,3}\s?:[*_]{0,3}\s/g,
    place: 'prose',
    message: 'A line that begins like a turn of a conversation.',
  },
];
