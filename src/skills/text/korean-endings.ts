import { latePattern } from './late-pattern.ts';

/** Particles that take each word, and the verbs and the copula that make one of a noun, with all their forms. */
const ENDINGS = latePattern(
  () =>
    /^(?:들|님)?(?:은|는|이|가|을|를|의|에|에서|에게|께|한테|으로|로|와|과|랑|이랑|도|만|까지|부터|처럼|보다|마다|나|이나|라도|이라도|조차|마저|밖에|대로|하고|이며|야|요){0,3}$|^(?:하|해|했|한|할|함|합|되|돼|됐|된|될|됨|됩|시키|시켜|시킨|시킬|입니|이에|예요|이다|이었|였|이라|이고|인데)\p{Script=Hangul}{0,12}$/u,
);
const RUN = latePattern(() => /^\p{Script=Hangul}{1,16}(?![\p{L}\p{M}\p{N}_])/u);

/** Whether what follows a word up to the next border is nothing but Korean particles, or the ending of a verb made of it. */
export function isKoreanEnding(rest: string): boolean {
  const run = RUN().exec(rest)?.[0];
  return run !== undefined && ENDINGS().test(run);
}
