import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { quotedText } from '../../contracts/text/quoted-text.ts';
import type { CheckedRule } from './checked-rule.ts';
import { placeText } from './describe-rules.ts';

/** Whether one of the allowed rules has the scheme, the port and all hosts of a wanted rule. Methods and paths are judged at each request. */
export function covers(allow: readonly CheckedRule[], { scheme, host, below, port }: CheckedRule): boolean {
  return allow.some((rule) => {
    if (rule.scheme !== scheme || rule.port !== port) return false;
    return (rule.host === host && rule.below === below) || (rule.below && host.endsWith(`.${rule.host}`));
  });
}

/** @throws SkillcellError `network.not-allowed` unless {@link covers} holds */
export function requireCovered(allow: readonly CheckedRule[], wanted: CheckedRule): void {
  if (covers(allow, wanted)) return;
  throw new SkillcellError(
    'network.not-allowed',
    `Cannot give the job a network: ${placeText(wanted)} is not in network.allow, got ${quotedText(wanted.text)}.`,
  );
}
