import { offerMatching } from './match/offered-matching.ts';
import { matchSkills } from './match/triggers.ts';
import { offerComments } from './parse/yaml/offered-comments.ts';
import { commentDiagnostics } from './parse/yaml/plain-comments.ts';
import { assertVersions } from './select/assert-versions.ts';
import { offerVersionCheck } from './select/version-check.ts';

// Every loader of skills on the host imports this; the sandbox's entry does not.
offerMatching(matchSkills);
offerVersionCheck(assertVersions);
offerComments(commentDiagnostics);
