import { expect, it } from 'vitest';
import { FUNCTION_WORDS } from '../../../src/library/search/search-skills.ts';
import { wordsOf } from '../../../src/library/search/search-words.ts';

it('function words are in the form of the index', () => {
  const text =
    "a about after all also am an and any are as at be because been before but by can could did do does down each for from had has have he her here him his how i if in into is it its just may me might more most must my need no nor not of off on once only or other our out over own please same she should so some such than that the their them then there these they this those through to too under up us very was want we were what when where which while who whom why will with would you your don't I'll I'd it's";
  expect([...wordsOf(text)].map(({ word }) => word).filter((word) => !FUNCTION_WORDS.has(word))).toEqual([]);
});
