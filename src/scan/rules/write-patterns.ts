import type { ScanPattern } from './find-patterns.ts';

/** Files that a shell, a system or an agent reads when it starts. */
const START_FILES =
  '(?:\\.bashrc|\\.bash_profile|\\.bash_login|(?<=[~/])\\.profile|\\.zshrc|\\.zprofile|\\.zshenv|config\\.fish|\\.ssh/authorized_keys|\\.gitconfig|\\.git/hooks/|\\.claude/settings|\\.claude\\.json|\\.mcp\\.json|\\.cursorrules|\\bclaude\\.md|\\bagents\\.md|\\bgemini\\.md|copilot-instructions\\.md|/etc/(?:profile|crontab|rc\\.local|ld\\.so\\.preload|sudoers|cron\\.|systemd/)|\\.config/systemd/|\\.config/autostart/|library/launchagents/)';
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
/** Folders of the system and of people. */
const OUTSIDE =
  '(?:/(?:etc|usr|bin|sbin|lib|lib64|boot|opt|root|home|var|srv|sys|proc|library|applications)/|~/|\\$\\{?home\\b|(?:\\.\\./){2}|c:\\\\)';
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

const STARTS = 'Something is written to a file that is read when a shell, a system or an agent starts.';
const CHANGES = 'A command changes something outside of the working folder.';
const PROGRAM = 'A program changes something outside of the working folder.';

/** Writing to places that are not the skill's. */
export const WRITE_PATTERNS: readonly ScanPattern[] = [
  {
    code: 'scan.persistence',
    needs: [START_WORDS, ['>', 'tee']],
    pattern: /(?<![<=\-\w>])[12&]?>{1,2}(?!=)|(?<![\w./-])tee[ \t]{1,8}(?:-\w{1,8}[ \t]{1,8})?/g,
    then: new RegExp(`^[ \\t]{0,8}["']?[~$\\w{}./-]{0,200}?${START_FILES}`),
    message: STARTS,
  },
  {
    code: 'scan.persistence',
    needs: [START_WORDS, ['cp', 'mv', 'ln', 'install', 'sed']],
    pattern: /(?<![\w./-])(?:cp|mv|ln|install|sed[ \t]{1,4}-i)[ \t]/g,
    then: new RegExp(`[ \\t]["']?[~$\\w{}./-]{0,200}?${START_FILES}[^\\s;&|]*[ \\t]{0,4}(?:$|[;&|\`#)\\n])`),
    message: STARTS,
  },
  {
    code: 'scan.persistence',
    needs: [START_WORDS, ['open', 'path', 'write', 'append']],
    pattern:
      /\b(?:open|path|home|join|expanduser|writefile|writefilesync|appendfile|appendfilesync|write_text)\s{0,4}\(/g,
    then: new RegExp(
      `${START_FILES}[^"'\`]{0,60}["'\`][^"'\`]{0,20}(?:["'\`](?:[wax]\\+?b?["'])|\\.(?:write|open|append)|,\\s)`,
    ),
    message: STARTS,
  },
  {
    code: 'scan.persistence',
    needs: [['crontab', 'launchctl', 'systemctl', 'schtasks', 'core.hookspath', 'reg add', 'update-rc.d']],
    pattern:
      /(?<![\w./-])(?:crontab[ \t]{1,4}(?:-[ \t\n]|-$|[\w./]))|\blaunchctl[ \t]{1,4}(?:load|bootstrap)\b|\bsystemctl[ \t]{1,4}(?:--user[ \t]{1,4})?enable\b|\bschtasks[ \t]{1,4}\/create\b|\bcore\.hookspath\b|\breg[ \t]{1,4}add\b|\bupdate-rc\.d\b/g,
    message: 'Something is set up that is run later by itself.',
  },
  {
    code: 'scan.writes-outside',
    needs: [['>'], OUTSIDE_WORDS],
    pattern: new RegExp(`(?<![<=\\-\\w>])[12&]?>{1,2}\\|?[ \\t]{0,8}["']?${OUTSIDE}`, 'g'),
    message: 'Output goes to a file outside of the working folder.',
  },
  {
    code: 'scan.writes-outside',
    needs: [['tee', 'mkdir', 'rm', 'chmod', 'chown', 'touch', 'sed', 'dd', 'mv', 'truncate'], OUTSIDE_WORDS],
    pattern: /(?<![\w./-])(?:tee|mkdir|rm|rmdir|chmod|chown|touch|truncate|mv|sed[ \t]{1,4}-i|dd)[ \t]/g,
    then: new RegExp(`^[^;&|]*?[ \\t=]["']?${OUTSIDE}|^["']?${OUTSIDE}`),
    message: CHANGES,
  },
  {
    code: 'scan.writes-outside',
    needs: [['cp', 'ln', 'install'], OUTSIDE_WORDS],
    pattern: /(?<![\w./-])(?:cp|ln|install)[ \t]/g,
    then: new RegExp(`[ \\t]["']?${OUTSIDE}[^\\s;&|]*[ \\t]{0,4}(?:$|[;&|\`#)\\n])`),
    message: CHANGES,
  },
  {
    code: 'scan.writes-outside',
    needs: [['rm', 'mkfs', 'remove-item']],
    pattern:
      /(?<![\w./-])rm[ \t]{1,8}(?:-[\w-]{1,20}[ \t]{1,8}){1,4}["']?(?:\/|~|\$\{?home\}?|\*|\.\.)["']?\/?\*?(?=\s|$|[;&|`"'])|\bmkfs(?:\.\w{1,8})?[ \t]{1,8}\/dev\//g,
    message: 'A command removes whole folders of people or the system.',
  },
  {
    code: 'scan.writes-outside',
    needs: [['remove-item'], ['recurse']],
    pattern: /\bremove-item\b/g,
    then: /c:\\|\$home|\$env:userprofile|~/,
    message: 'A command removes whole folders of people or the system.',
  },
  {
    code: 'scan.writes-outside',
    needs: [['open'], [...OUTSIDE_WORDS, 'path.home', 'homedir']],
    pattern: new RegExp(
      `\\bopen\\s{0,4}\\(\\s{0,40}(?:os\\.path\\.expanduser\\s{0,4}\\(\\s{0,4})?[fr]?["'\`]${OUTSIDE}`,
      'g',
    ),
    then: /^[^"'`]*["'`]\s{0,4}\)?\s{0,4},\s{0,4}(?:mode\s{0,4}=\s{0,4})?["'][wax]/,
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
      `\\b(?:(?:writefile|appendfile|rm|unlink|rename|copyfile|mkdir|cp)(?:sync)?|shutil\\.(?:rmtree|move)|os\\.(?:remove|unlink|makedirs|mkdir|rmdir))\\s{0,4}\\(\\s{0,40}(?:os\\.path\\.expanduser\\s{0,4}\\(\\s{0,4})?[fr]?["'\`]${OUTSIDE}`,
      'g',
    ),
    message: PROGRAM,
  },
  {
    code: 'scan.writes-outside',
    needs: [['path'], ['write', 'unlink', 'mkdir', 'touch', 'rename', 'rmdir'], [...OUTSIDE_WORDS, 'home']],
    pattern: new RegExp(`\\bpath\\s{0,4}(?:\\(\\s{0,40}["']${OUTSIDE}|\\.\\s{0,4}home\\s{0,4}\\()`, 'g'),
    then: /\.\s{0,4}(?:write_text|write_bytes|unlink|mkdir|touch|rename|rmdir)\s{0,4}\(/,
    message: PROGRAM,
  },
];
