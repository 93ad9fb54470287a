import type { ScanPattern } from './find-patterns.ts';
import { firstWordHas, isLastWord, isWritten, namesInCommand } from './places-in-commands.ts';

/** Folders that hold all files of a user or a system. */
const WHOLE: ReadonlySet<string> = new Set([
  '/',
  '/*',
  '~',
  '~/',
  '~/*',
  '*',
  '.',
  './',
  '..',
  '../',
  '$home',
  '${home}',
  '$home/',
  '$home/*',
  '${home}/*',
]);

/** Whether the target of `rm`, after its options, is such a folder. */
function removesAll(rest: string): boolean {
  const words = rest.split(/[\s"'`;&|]+/).slice(1);
  const target = words.find((word) => !word.startsWith('-'));
  return target !== undefined && WHOLE.has(target);
}

/** Files that a shell, a system or an agent reads when it starts. */
const START_FILES =
  '(?:\\.bashrc|\\.bash_profile|\\.bash_login|[~/]\\.profile|\\.zshrc|\\.zprofile|\\.zshenv|config\\.fish|\\.ssh/authorized_keys|\\.gitconfig|\\.git/hooks/|\\.claude/settings|\\.claude\\.json|\\.mcp\\.json|\\.cursorrules|claude\\.md|agents\\.md|gemini\\.md|copilot-instructions\\.md|/etc/(?:profile|crontab|rc\\.local|ld\\.so\\.preload|sudoers|cron\\.|systemd/)|\\.config/systemd/|\\.config/autostart/|library/launchagents/)';
const START_WORDS = [
  '.bashrc',
  '.bash_',
  '.profile',
  '.zshrc',
  '.zprofile',
  '.zshenv',
  'config.fish',
  'authorized_keys',
  '.gitconfig',
  '.git/hooks',
  '.claude',
  '.mcp.json',
  '.cursorrules',
  'claude.md',
  'agents.md',
  'gemini.md',
  'copilot-instructions',
  '/etc/',
  'systemd',
  'autostart',
  'launchagents',
];
/** Folders of the system and of users. */
const OUTSIDE =
  '(?:/(?:etc|usr|bin|sbin|lib|lib64|boot|opt|root|home|var|srv|sys|proc|library|applications)/|~/|\\$\\{?home\\b|\\.\\./\\.\\./|c:\\\\)';
const OUTSIDE_WORDS = [
  '/etc/',
  '/usr/',
  '/bin/',
  '/sbin/',
  '/lib',
  '/boot/',
  '/opt/',
  '/root/',
  '/home/',
  '/var/',
  '/srv/',
  '/sys/',
  '/proc/',
  '/applications/',
  '~/',
  '$home',
  '${home',
  '../../',
  'c:\\',
];
const START_FILE = new RegExp(START_FILES, 'g');
const PLACE_OUTSIDE = new RegExp(OUTSIDE, 'g');

const STARTS = 'Something is written to a file that is read when a shell, a system or an agent starts.';
const CHANGES = 'A command changes something outside of the working folder.';
const PROGRAM = 'A program changes something outside of the working folder.';
const REMOVES = 'A command removes whole folders of the user or the system.';

/** Commands and programs that write outside of the skill. */
export const WRITE_PATTERNS: readonly ScanPattern[] = [
  {
    code: 'scan.persistence',
    needs: [START_WORDS, ['>', 'tee']],
    pattern: />{1,2}\s?["']?|\btee (?:-\w )?["']?/g,
    place: 'redirect',
    behind: (rest) => firstWordHas(rest, START_FILE),
    message: STARTS,
  },
  {
    code: 'scan.persistence',
    needs: [START_WORDS, ['cp ', 'mv ', 'ln ', 'install ', 'sed ']],
    pattern: /(?:cp|mv|ln|install(?=\s(?:-|[\w~$"']{0,20}[./]))|sed -i)\s/g,
    place: 'command',
    behind: (rest) => isLastWord(rest, START_FILE),
    message: STARTS,
  },
  {
    code: 'scan.persistence',
    needs: [START_WORDS, ['open', 'path', 'write', 'append']],
    pattern: /(?:open|path|home|join|expanduser|writefile|writefilesync|appendfile|appendfilesync|write_text)\s?\(/g,
    behind: (rest) => isWritten(rest, START_FILE),
    message: STARTS,
  },
  {
    code: 'scan.persistence',
    needs: [['crontab', 'launchctl', 'systemctl', 'schtasks', 'core.hookspath', 'reg add', 'update-rc.d']],
    pattern:
      /(?:crontab (?:-\s|-$|[\w./])|launchctl (?:load|bootstrap)\b|systemctl (?:--user )?enable\b|schtasks \/create\b|core\.hookspath\b|reg add\b|update-rc\.d\b)/g,
    apart: 'command',
    message: 'A command sets up a program that runs later by itself.',
  },
  {
    code: 'scan.writes-outside',
    needs: [['>'], OUTSIDE_WORDS],
    pattern: new RegExp(`>\\|?\\s?["']?${OUTSIDE}`, 'g'),
    place: 'redirect',
    message: 'Output goes to a file outside of the working folder.',
  },
  {
    code: 'scan.writes-outside',
    needs: [
      ['tee ', 'mkdir ', 'rm ', 'rmdir ', 'chmod ', 'chown ', 'touch ', 'sed ', 'dd ', 'mv ', 'truncate '],
      OUTSIDE_WORDS,
    ],
    pattern: /(?:tee|mkdir|rm|rmdir|chmod|chown|touch|truncate|mv|sed -i|dd) /g,
    place: 'command',
    behind: (rest) => namesInCommand(rest, PLACE_OUTSIDE),
    message: CHANGES,
  },
  {
    code: 'scan.writes-outside',
    needs: [['cp ', 'ln ', 'install '], OUTSIDE_WORDS],
    pattern: /(?:cp|ln|install(?=\s(?:-|[\w~$"']{0,20}[./]))) /g,
    place: 'command',
    behind: (rest) => isLastWord(rest, PLACE_OUTSIDE),
    message: CHANGES,
  },
  {
    code: 'scan.writes-outside',
    needs: [['rm -']],
    pattern: /rm -/g,
    place: 'command',
    behind: removesAll,
    message: REMOVES,
  },
  {
    code: 'scan.writes-outside',
    needs: [['remove-item'], ['recurse']],
    pattern: /remove-item\b/g,
    behind: /c:\\|\$home|\$env:userprofile|~/,
    message: REMOVES,
  },
  {
    code: 'scan.writes-outside',
    needs: [['open'], [...OUTSIDE_WORDS, 'path.home', 'homedir']],
    pattern: new RegExp(`open\\s?\\(\\s?(?:os\\.path\\.expanduser\\s?\\(\\s?)?[fr]?["'\`]${OUTSIDE}`, 'g'),
    apart: 'word',
    behind: /^[^"'`]*["'`]\s?\)?\s?,\s?(?:mode\s?=\s?)?["'][wax]/,
    message: PROGRAM,
  },
  {
    code: 'scan.writes-outside',
    needs: [
      [
        'write',
        'append',
        'unlink',
        'rmtree',
        'remove',
        'copy',
        'move',
        'rename',
        'makedirs',
        'mkdir',
        'rmdir',
        'rm',
        'cp',
      ],
      OUTSIDE_WORDS,
    ],
    pattern: new RegExp(
      `(?:(?:writefile|appendfile|rm|unlink|rename|copyfile|mkdir|cp)(?:sync)?|shutil\\.(?:rmtree|move)|os\\.(?:remove|unlink|makedirs|mkdir|rmdir))\\s?\\(\\s?(?:os\\.path\\.expanduser\\s?\\(\\s?)?[fr]?["'\`]${OUTSIDE}`,
      'g',
    ),
    apart: 'word',
    message: PROGRAM,
  },
  {
    code: 'scan.writes-outside',
    needs: [['path'], ['write', 'unlink', 'mkdir', 'touch', 'rename', 'rmdir'], [...OUTSIDE_WORDS, 'home']],
    pattern: new RegExp(`path\\s?(?:\\(\\s?["']${OUTSIDE}|\\.\\s?home\\s?\\()`, 'g'),
    apart: 'word',
    behind: /\.\s?(?:write_text|write_bytes|unlink|mkdir|touch|rename|rmdir)\s?\(/,
    message: PROGRAM,
  },
];
