import { offerMatching } from './match/offered-matching.ts';
import { matchSkills } from './match/triggers.ts';

// Whatever loads skills on the host imports this; the sandbox's entry doesn't.
offerMatching(matchSkills);
