import type { DiagnosticText } from '../diagnostic-severities.ts';
import type { LibraryCode } from '../library-severities.ts';

const BRING_BACK =
  '`skillcell skills install` brings back what is locked; `update` and `add` take what the source has.';

/** What is found where skills are locked. */
export const LOCK_TEXTS: Readonly<Record<Extract<LibraryCode, `lock.${string}`>, DiagnosticText>> = {
  'lock.changed': {
    meaning: 'a file of a locked skill has other bytes, or another mode, than are locked',
    advice: BRING_BACK,
  },
  'lock.missing': { meaning: 'a file of a locked skill is not there', advice: BRING_BACK },
  'lock.added': {
    meaning: 'the folder of a locked skill holds what is not locked: a file, a link, or a folder that loaders skip',
    advice: 'Move it away, or take it into the skill where that comes from.',
  },
  'lock.not-approved': {
    meaning: 'with --frozen, a skill is left out whose bytes are not locked, or which nobody has approved',
    advice: 'Look at the skill, then `skillcell skills approve REF --as WHO`.',
  },
  'lock.imported': {
    meaning: 'a skill that was removed is imported by one that stays',
    advice: 'Remove that one too, take the import out of it, or add the skill again.',
  },
  'lock.beside': {
    meaning: 'a skills-lock.json lies beside the lock file that is written; it is left as it is',
    advice: '`skillcell skills verify` compares the skills of both; add those of skills-lock.json to have one file.',
  },
};
