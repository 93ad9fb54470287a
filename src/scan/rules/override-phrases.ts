/** A phrase: the words that it may begin with, and a pattern for its words. */
export interface OverridePhrase {
  begins: readonly string[];
  /** Applied to the words from the first one on, separated by one blank, of bounded length. */
  pattern: RegExp;
  message: string;
}

const IGNORES = 'A phrase tells a model to ignore its instructions.';

/** Phrases that tell a model to ignore its instructions or to bypass a check. */
export const OVERRIDE_PHRASES: readonly OverridePhrase[] = [
  {
    begins: ['ignore', 'disregard', 'forget', 'override', 'neglect'],
    pattern:
      /^\w+ (?:[\w']+ ){0,3}(?:previous|previously|prior|earlier|preceding|above|foregoing|system|existing|original|initial|developer|other) (?:[\w']+ ){0,2}(?:instructions?|prompts?|rules?|guidelines?|directions?|directives?|messages?|commands?|policy|policies|guardrails?|constraints?|restrictions?)\b/,
    message: IGNORES,
  },
  {
    begins: ['ignore', 'disregard', 'forget'],
    pattern:
      /^\w+ (?:everything|anything|all) (?:[\w']+ ){0,2}(?:above|before|previously|earlier|told|learned|know|said)\b/,
    message: 'A phrase tells a model to ignore the text before it.',
  },
  {
    begins: ['you'],
    pattern:
      /^you(?:'re| are) (?:no longer (?:bound|restricted|limited|required|subject|an?|the)|now (?:an? )?(?:unrestricted|jailbroken|dan|in developer mode))\b/,
    message: 'A phrase gives a model another role, without its restrictions.',
  },
  {
    begins: ['not', "don't", 'dont', 'never', 'without'],
    pattern:
      /^[\w']+ (?:ever )?(?:tell|inform|mention|reveal|disclos|notify|alert|warn)(?:ing|e|ling)? (?:[\w']+ ){0,4}(?:users?|humans?|operators?|people|any(?:one|body)|owner|developers?)(?: [^t]| t[^o]| to\w|$)/,
    message: 'A phrase tells a model to keep something from people.',
  },
  {
    begins: ['reveal', 'print', 'output', 'repeat', 'leak', 'send', 'show'],
    pattern: /^\w+ (?:[\w']+ ){0,3}system (?:prompt|message|instructions?)\b/,
    message: 'A phrase asks for the system prompt.',
  },
  {
    begins: ['bypass', 'disable', 'circumvent', 'evade', 'turn off', 'skip', 'ignore'],
    pattern:
      /^\w+ (?:[\w']+ ){0,3}(?:safety|security|permission|approval|confirmation|moderation|sandbox) (?:checks?|prompts?|filters?|rules?|guidelines?|measures?|restrictions?|warnings?|policy|policies|systems?|mode)\b/,
    message: 'A phrase tells a model to bypass a check.',
  },
  {
    begins: ['--dangerously', '--yolo'],
    pattern: /^(?:dangerously (?:skip permissions|bypass)|yolo\b)/,
    message: 'An option that bypasses the approvals of an agent.',
  },
  {
    begins: ['without'],
    pattern:
      /^without (?:(?:asking|requesting|waiting) (?:[\w']+ ){0,3}(?:permission|confirmation|approval|consent)|(?:the )?users?(?:'s|')? (?:permission|confirmation|approval|consent|knowledge))\b/,
    message: 'A phrase tells a model to act without asking.',
  },
  {
    begins: ['忽略', '无视', '忘记'],
    pattern: /^(?:忽略|无视|忘记)[^ ]{0,8}(?:之前|以上|先前|前面|所有|系统)[^ ]{0,6}(?:指令|指示|提示|规则)/,
    message: IGNORES,
  },
  {
    begins: ['ignoriere', 'vergiss'],
    pattern: /^\w+ (?:\w+ ){0,3}(?:vorherigen|bisherigen|obigen|vorigen) anweisungen/,
    message: IGNORES,
  },
  {
    begins: ['ignora', 'olvida', 'ignorez', 'ignore', 'oubliez', 'oublie'],
    pattern:
      /^\w+ (?:\w+ ){0,3}(?:instrucciones|instructions|istruzioni|instruções) (?:anteriores|précédentes|precedenti|previas)/,
    message: IGNORES,
  },
];
