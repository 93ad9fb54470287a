/** The form of a kind of secret, as its issuer defines it: a fixed beginning, then a number of characters of an alphabet. */
export interface CredentialForm {
  /** Kind and issuer, for people. */
  name: string;
  begins: string;
  alphabet: RegExp;
  /** Least number of characters behind the beginning. */
  length: number;
  /** Whether more characters of the alphabet mean that it is no secret. */
  exact?: true;
}

const LETTERS = /[A-Za-z0-9]/;
const UPPER = /[A-Z2-7]/;
const WORD = /[A-Za-z0-9_-]/;
const HEX = /[0-9a-f]/;

/** Forms of secrets that can be recognized alone. Passwords have no form. */
export const CREDENTIAL_FORMS: readonly CredentialForm[] = [
  ...['AKIA', 'ASIA', 'ABIA', 'ACCA'].map((begins): CredentialForm => ({
    name: 'a key of AWS',
    begins,
    alphabet: UPPER,
    length: 16,
    exact: true,
  })),
  ...['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'].map((begins): CredentialForm => ({
    name: 'a token of GitHub',
    begins,
    alphabet: LETTERS,
    length: 36,
  })),
  { name: 'a token of GitHub', begins: 'github_pat_', alphabet: WORD, length: 60 },
  { name: 'a token of GitLab', begins: 'glpat-', alphabet: WORD, length: 20 },
  { name: 'a key of Anthropic', begins: 'sk-ant-', alphabet: WORD, length: 24 },
  ...['sk-proj-', 'sk-svcacct-', 'sk-admin-'].map((begins): CredentialForm => ({
    name: 'a key of OpenAI',
    begins,
    alphabet: WORD,
    length: 32,
  })),
  { name: 'a key of OpenAI', begins: 'sk-', alphabet: LETTERS, length: 40 },
  { name: 'a key of Google', begins: 'AIza', alphabet: WORD, length: 35 },
  { name: 'a token of Google', begins: 'ya29.', alphabet: WORD, length: 40 },
  ...['xoxa-', 'xoxb-', 'xoxe-', 'xoxo-', 'xoxp-', 'xoxr-', 'xoxs-'].map((begins): CredentialForm => ({
    name: 'a token of Slack',
    begins,
    alphabet: WORD,
    length: 20,
  })),
  { name: 'a webhook of Slack', begins: 'hooks.slack.com/services/T', alphabet: /[A-Za-z0-9/]/, length: 38 },
  ...['sk_live_', 'rk_live_'].map((begins): CredentialForm => ({
    name: 'a key of Stripe',
    begins,
    alphabet: LETTERS,
    length: 20,
  })),
  { name: 'a token of npm', begins: 'npm_', alphabet: LETTERS, length: 36 },
  { name: 'a token of PyPI', begins: 'pypi-AgEIcHlwaS5vcmc', alphabet: WORD, length: 40 },
  { name: 'a token of Hugging Face', begins: 'hf_', alphabet: LETTERS, length: 34 },
  { name: 'a key of SendGrid', begins: 'SG.', alphabet: /[A-Za-z0-9_.-]/, length: 66 },
  { name: 'a key of Twilio', begins: 'SK', alphabet: HEX, length: 32, exact: true },
  { name: 'a token of a bot of Telegram', begins: ':AA', alphabet: WORD, length: 33, exact: true },
  { name: 'a signed token (JWT)', begins: 'eyJ', alphabet: /[A-Za-z0-9_.-]/, length: 80 },
  ...['RSA ', 'EC ', 'DSA ', 'OPENSSH ', 'PGP ', 'ENCRYPTED ', ''].map((kind): CredentialForm => ({
    name: 'a private key',
    begins: `-----BEGIN ${kind}PRIVATE KEY${kind === 'PGP ' ? ' BLOCK' : ''}-----`,
    alphabet: /[A-Za-z0-9+/=\s:,-]/,
    length: 18,
  })),
];

/** Text that people write in place of a secret. */
const PLACEHOLDER =
  /example|placeholder|your|xxxxxx|00000000|11111111|1234567|abcdef|sample|dummy|fake|test|redacted|password|secret|changeme|<|\.\.\./i;

/** Whether a text in the form of a secret is only a placeholder. */
export function isPlaceholder(secret: string): boolean {
  // A text of a few repeated letters is not a real secret.
  return PLACEHOLDER.test(secret) || new Set(secret.slice(-16)).size < 6;
}
