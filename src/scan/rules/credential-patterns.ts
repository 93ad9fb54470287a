/** A form of secrets, as those who give them out write it. */
export interface CredentialPattern {
  /** Whose it is, for people. */
  name: string;
  /** A text that each of them holds. */
  word: string;
  /** With the flag `g`. It sees the text as it is. */
  pattern: RegExp;
}

/** Forms of secrets that stand for themselves. Passwords have none. */
export const CREDENTIAL_PATTERNS: readonly CredentialPattern[] = [
  { name: 'a key of AWS', word: 'A', pattern: /(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Za-z0-9])/g },
  { name: 'a token of GitHub', word: 'gh', pattern: /(?<![A-Za-z0-9])gh[pousr]_[A-Za-z0-9]{36}/g },
  { name: 'a token of GitHub', word: 'github_pat_', pattern: /github_pat_[A-Za-z0-9_]{60}/g },
  { name: 'a token of GitLab', word: 'glpat-', pattern: /glpat-[A-Za-z0-9_-]{20}/g },
  { name: 'a key of Anthropic', word: 'sk-ant-', pattern: /sk-ant-[A-Za-z0-9_-]{24}/g },
  { name: 'a key of OpenAI', word: 'sk-', pattern: /(?<![A-Za-z0-9])sk-(?:proj-|svcacct-|admin-)[A-Za-z0-9_-]{32}/g },
  { name: 'a key of OpenAI', word: 'sk-', pattern: /(?<![A-Za-z0-9-])sk-[A-Za-z0-9]{40}/g },
  { name: 'a key of Google', word: 'AIza', pattern: /AIza[A-Za-z0-9_-]{35}/g },
  { name: 'a token of Google', word: 'ya29.', pattern: /ya29\.[A-Za-z0-9_-]{40}/g },
  { name: 'a token of Slack', word: 'xox', pattern: /xox[abeoprs]-[A-Za-z0-9-]{20}/g },
  {
    name: 'a webhook of Slack',
    word: 'hooks.slack.com',
    pattern: /hooks\.slack\.com\/services\/T[A-Z0-9]{8,12}\/B[A-Z0-9]{8,12}\/[A-Za-z0-9]{20}/g,
  },
  { name: 'a key of Stripe', word: '_live_', pattern: /(?:sk|rk)_live_[A-Za-z0-9]{20}/g },
  { name: 'a token of npm', word: 'npm_', pattern: /npm_[A-Za-z0-9]{36}/g },
  { name: 'a token of PyPI', word: 'pypi-', pattern: /pypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{40}/g },
  { name: 'a token of Hugging Face', word: 'hf_', pattern: /(?<![A-Za-z0-9])hf_[A-Za-z0-9]{34}/g },
  { name: 'a key of SendGrid', word: 'SG.', pattern: /SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}/g },
  { name: 'a key of Twilio', word: 'SK', pattern: /(?<![A-Za-z0-9])SK[0-9a-f]{32}(?![A-Za-z0-9])/g },
  { name: 'a token of a bot of Telegram', word: ':AA', pattern: /(?<!\d)\d{8,10}:AA[A-Za-z0-9_-]{33}/g },
  {
    name: 'a signed token (JWT)',
    word: 'eyJ',
    pattern: /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,400}\.eyJ[A-Za-z0-9_-]{10,2000}\.[A-Za-z0-9_-]{20}/g,
  },
  {
    name: 'a private key',
    word: 'PRIVATE KEY',
    pattern:
      /-----BEGIN (?:[A-Z]{2,10} ){0,3}PRIVATE KEY(?: BLOCK)?-----\s{0,4}(?:[A-Za-z0-9+/=]{16}|Proc-Type|Version|Comment)/g,
  },
  {
    name: 'a name with a password in an address',
    word: '://',
    pattern:
      /(?<![A-Za-z0-9+.-])[a-z][a-z0-9+]{1,20}:\/\/[A-Za-z0-9_.%-]{1,64}:[^\s:@/"'`<>{}$()[\]*]{6,100}@[A-Za-z0-9.-]/g,
  },
];

/** What people write where a secret would stand. */
const PLACEHOLDER =
  /example|placeholder|your|x{6}|(?:0{8}|1{8})|1234567|abcdef|sample|dummy|fake|test|redacted|password|secret|changeme|<|\.\.\./i;

/** Whether a text that has the form of a secret is one that stands for any. */
export function isPlaceholder(secret: string): boolean {
  if (PLACEHOLDER.test(secret)) return true;
  // A few letters again and again are nobody's secret.
  return new Set(secret.slice(-16)).size < 6;
}
