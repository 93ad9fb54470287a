import { hostText } from './canonical-host.ts';
import { type CheckedRule, DEFAULT_PORTS } from './checked-rule.ts';

/** Most rules that a message lists. */
const MOST = 20;

/** The place of a rule as a URL: `https://*.example.com:8443`. */
export function placeText({ scheme, host, below, port }: Omit<CheckedRule, 'text'>): string {
  const shownPort = port === DEFAULT_PORTS[scheme] ? '' : `:${port}`;
  return `${scheme}://${below ? '*.' : ''}${hostText(host)}${shownPort}`;
}

/** The normal form of a rule as a text. Only one path has a place in it, so others are counted. */
export function ruleText(rule: Omit<CheckedRule, 'text'>): string {
  const { methods, paths = [''] } = rule;
  const place = placeText(rule).replace(/^https:\/\//, '');
  const others = paths.length > 1 ? ` and ${paths.length - 1} more` : '';
  return `${methods === undefined ? '' : `${methods.join(',')} `}${place}${paths[0]}${others}`;
}

/** Rules for messages and prompts, a line each: `GET, HEAD https://api.example.com/v1/**`. The last line counts those left out. */
export function describeRules(rules: readonly CheckedRule[]): string[] {
  const lines = new Set<string>();
  for (const rule of rules) {
    const methods = rule.methods === undefined ? '' : `${rule.methods.join(', ')} `;
    for (const path of rule.paths ?? ['']) lines.add(`${methods}${placeText(rule)}${path}`);
  }
  const shown = [...lines].slice(0, MOST);
  return lines.size > MOST ? [...shown, `and ${lines.size - MOST} more`] : shown;
}
