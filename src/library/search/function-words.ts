/**
 * Words of English that hold a sentence together and say nothing of what it is about. In short texts they are rare, so that no count would
 * tell: "how do I … the" would find the one description that says "how". As {@link wordsOf} gives them.
 */
export const FUNCTION_WORDS: ReadonlySet<string> = new Set(
  (
    'a about after all also am an and ani ar as at be becaus been befor but by can could d did do doe don down each for from get give had ' +
    'ha have he her here him hi how i if in into is it just ll m mai me might more most must my need no nor not of off on onc onli or other our ' +
    'out over own pleas re s same she should so some such t than that the their them then there these thei thi those through to too under up us ' +
    'veri wa want we were what when where which while who whom why will with would you your'
  ).split(' '),
);
