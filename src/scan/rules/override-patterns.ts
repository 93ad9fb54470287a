import type { ScanPattern } from './find-patterns.ts';

/** What may stand between two words of a phrase: blanks, line ends, and what comments and emphasis put there. */
const GAP = '[\\s*#/>~`"\'.,:;|_-]+';
const WORDS = `(?:[a-z0-9]+${GAP})`;

const IGNORE = '(?:ignore|disregard|forget|override|neglect)';
const EARLIER =
  '(?:previous|previously|prior|earlier|preceding|above|foregoing|system|existing|original|initial|developer|other)';
const RULES =
  '(?:instructions?|prompts?|rules?|guidelines?|directions?|directives?|messages?|commands?|polic(?:y|ies)|guardrails?|constraints?|restrictions?)';
const PEOPLE = '(?:users?|humans?|operators?|people|anyone|anybody|owner|developers?)';

const CODE = 'scan.override-text';

/** Phrases that talk a model out of what it was told. Where people seldom look, `scan.override` is made of them. */
export const OVERRIDE_PATTERNS: readonly ScanPattern[] = [
  {
    code: CODE,
    needs: [
      ['ignore', 'disregard', 'forget', 'override', 'neglect'],
      [
        'previous',
        'prior',
        'earlier',
        'preceding',
        'above',
        'foregoing',
        'system',
        'existing',
        'original',
        'initial',
        'developer',
        'other',
      ],
    ],
    pattern: new RegExp(`\\b${IGNORE}${GAP}${WORDS}{0,3}${EARLIER}${GAP}${WORDS}{0,2}${RULES}\\b`, 'g'),
    message: 'A phrase tells a model to ignore its instructions.',
  },
  {
    code: CODE,
    needs: [
      ['ignore', 'disregard', 'forget'],
      ['everything', 'anything', 'all'],
    ],
    pattern: new RegExp(
      `\\b(?:ignore|disregard|forget)${GAP}(?:everything|anything|all)${GAP}${WORDS}{0,2}(?:above|before|previously|earlier|told|learned|know|said)\\b`,
      'g',
    ),
    message: 'A phrase tells a model to ignore what stands before.',
  },
  {
    code: CODE,
    needs: [
      ['you are', 'you\nare', 'you  are', "you're"],
      ['no longer', 'no\nlonger', 'unrestricted', 'jailbroken', 'developer mode', 'dan'],
    ],
    pattern: new RegExp(
      `\\byou(?:${GAP}are|'re)${GAP}(?:no${GAP}longer${GAP}(?:bound|restricted|limited|required|subject|an?|the)|now${GAP}(?:an?${GAP})?(?:unrestricted|jailbroken|dan\\b|in${GAP}developer${GAP}mode))`,
      'g',
    ),
    message: 'A phrase gives a model another role, without its restrictions.',
  },
  {
    code: CODE,
    needs: [
      ['not', "n't", 'never', 'without'],
      ['tell', 'inform', 'mention', 'reveal', 'disclos', 'notify', 'alert', 'warn'],
    ],
    pattern: new RegExp(
      `(?:\\bnot|n't|\\bnever|\\bwithout)${GAP}(?:tell|telling|inform|informing|mention|mentioning|reveal|revealing|disclose|disclosing|notify|notifying|alert|alerting|warn|warning)${GAP}${WORDS}{0,4}${PEOPLE}\\b(?!${GAP}to\\b)`,
      'g',
    ),
    message: 'A phrase has something kept from people.',
  },
  {
    code: CODE,
    needs: [['reveal', 'print', 'output', 'repeat', 'leak', 'send', 'show'], ['system']],
    pattern: new RegExp(
      `\\b(?:reveal|print|output|repeat|leak|send|show)${GAP}${WORDS}{0,3}system${GAP}(?:prompt|message|instructions?)\\b`,
      'g',
    ),
    message: 'A phrase asks for the system prompt.',
  },
  {
    code: CODE,
    needs: [['bypass', 'disable', 'circumvent', 'evade', 'turn off', 'skip', 'ignore']],
    pattern: new RegExp(
      `\\b(?:bypass|disable|circumvent|evade|turn${GAP}off|skip|ignore)${GAP}${WORDS}{0,3}(?:safety|security|permission|approval|confirmation|moderation|sandbox)${GAP}(?:checks?|prompts?|filters?|rules?|guidelines?|measures?|restrictions?|warnings?|polic(?:y|ies)|systems?|mode)\\b`,
      'g',
    ),
    message: 'A phrase has a check gone round.',
  },
  {
    code: CODE,
    needs: [['dangerously-skip-permissions', 'dangerously-bypass', '--yolo']],
    pattern: /--dangerously-(?:skip-permissions|bypass[a-z-]*)|--yolo\b/g,
    message: 'A way round what an agent has to ask for.',
  },
  {
    code: CODE,
    needs: [['without'], ['asking', 'permission', 'confirm', 'approval', 'consent', 'knowledge']],
    pattern: new RegExp(
      `\\bwithout${GAP}(?:(?:asking|requesting|waiting)${GAP}${WORDS}{0,3}(?:permission|confirmation|approval|consent)|(?:the${GAP})?users?(?:'s|’s)?${GAP}(?:permission|confirmation|approval|consent|knowledge))\\b`,
      'g',
    ),
    message: 'A phrase has something done without asking.',
  },
  {
    code: CODE,
    needs: [
      ['忽略', '无视', '忘记'],
      ['指令', '指示', '提示', '规则'],
    ],
    pattern: /(?:忽略|无视|忘记)[^\s。，]{0,8}(?:之前|以上|先前|前面|所有|系统)[^\s。，]{0,6}(?:指令|指示|提示|规则)/g,
    message: 'A phrase tells a model to ignore its instructions.',
  },
  {
    code: CODE,
    needs: [
      ['ignor', 'olvida', 'oublie', 'vergiss'],
      ['anweisung', 'instrucci', 'instructions', 'istruzioni', 'instru'],
    ],
    pattern: new RegExp(
      `\\b(?:ignoriere|vergiss|ignora|olvida|ignorez|oubliez|ignore|oublie|ignore)${GAP}(?:\\p{L}+${GAP}){0,3}(?:vorherigen|bisherigen|obigen|vorigen)${GAP}anweisungen|\\b(?:ignora|olvida|ignorez|ignore|oubliez|oublie)${GAP}(?:\\p{L}+${GAP}){0,3}(?:instrucciones|instructions|istruzioni|instruções)${GAP}(?:\\p{L}+${GAP}){0,1}(?:anteriores|précédentes|precedenti|previas)`,
      'gu',
    ),
    message: 'A phrase tells a model to ignore its instructions.',
  },
];
