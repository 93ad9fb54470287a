import type { ScanPattern } from './find-patterns.ts';

const VARIABLES = 'All environment variables are read.';
const SECRETS = 'A place of secrets is named.';
const PROGRAM = 'A program connects to the network.';
const COMMAND = 'A command connects to the network.';

/** An assignment to a variable: the rest of its name, and the operator. */
const SETS = /^(?:\w*|\s?["'][^"'\n]*["']\s?\])\s?=(?![=>~])/;
const READS = /os\.environ|getenv\s?\(|process\s?\.\s?env\b|\benv\[|\$env:/;

/** An assigned variable is not read, unless another one is read on the same line. */
function isRead(rest: string): boolean {
  return !SETS.test(rest) || READS.test(rest);
}

/** Access of programs to the environment, secrets and the network. */
export const ACCESS_PATTERNS: readonly ScanPattern[] = [
  {
    code: 'scan.environment-all',
    needs: [['environ']],
    pattern: /os\.environ(?:\.(?:items|copy|values|keys)\s?\(|\s?\))|\/proc\/[\w$]{1,20}\/environ\b/g,
    message: VARIABLES,
  },
  {
    code: 'scan.environment-all',
    needs: [['process.env']],
    pattern:
      /(?:stringify|entries|keys|values|assign)\s?\(\s?(?:\{\s?\}\s?,\s?)?process\.env\s?[,)]|\.\.\.\s?process\.env\b[^.[]/g,
    message: VARIABLES,
  },
  {
    code: 'scan.environment-all',
    needs: [['printenv', 'export', 'declare', 'env']],
    pattern: /(?:printenv|export -p|declare -x|\benv)\s?(?:\n|\||>|$)/g,
    apart: 'command',
    place: 'command',
    message: VARIABLES,
  },
  {
    code: 'scan.environment-all',
    needs: [['env:']],
    pattern: /\b(?:get-childitem|gci|dir|ls) env:/g,
    message: VARIABLES,
  },
  {
    code: 'scan.environment',
    needs: [['environ', 'process.env', 'getenv', 'env[', 'env.', 'env:']],
    pattern:
      /os\.environ\s?(?:\[|\.\s?get\s?\()|getenv\s?\(|process\s?\.\s?env\s?(?:\.\s?\w|\[)|env\s?\[\s?['"]|env\.get\s?\(|import\.meta\.env\s?\.|deno\.env\b|\$env:\w/g,
    apart: 'word',
    behind: isRead,
    message: 'An environment variable is read.',
  },
  {
    code: 'scan.secret-files',
    needs: [
      [
        '.ssh',
        '.aws',
        '.netrc',
        '.kube',
        '.gnupg',
        '.docker',
        '.pypirc',
        '.git-credentials',
        'gcloud',
        '.azure',
        '.config',
        '.claude',
        '.codex',
      ],
    ],
    pattern:
      /[~/\\'"}]\.(?:ssh[/\\](?:id_\w|authorized_keys|\*)|ssh['")]|aws[/\\]credentials|netrc\b|kube[/\\]config|gnupg\b|docker[/\\]config\.json|pypirc\b|git-credentials\b|config[/\\]gcloud|azure[/\\]|config[/\\]gh[/\\]hosts|claude[/\\]\.credentials|codex[/\\]auth\.json)/g,
    message: SECRETS,
  },
  {
    code: 'scan.secret-files',
    needs: [
      [
        '/etc/',
        'find-',
        'dump-',
        'login data',
        'cookies.sqlite',
        'key4.db',
        'wallet.dat',
        '169.254.169.254',
        'metadata.google',
      ],
    ],
    pattern:
      /\/etc\/g?shadow\b|security (?:find|dump)-(?:generic-password|internet-password|keychain)|\blogin data\b|\bcookies\.sqlite\b|\bkey4\.db\b|\bwallet\.dat\b|\b169\.254\.169\.254\b|\bmetadata\.google\.internal\b/g,
    message: SECRETS,
  },
  {
    code: 'scan.network',
    needs: [
      ['requests', 'urllib', 'httpx', 'aiohttp', 'http', 'socket', 'axios', 'ftplib', 'smtplib', 'paramiko', 'net.'],
    ],
    pattern:
      /(?:requests\s?\.\s?(?:get|post|put|patch|delete|head|request|session)\s?\(|urllib\d?(?:\.request)?\s?\.\s?(?:urlopen|urlretrieve|request)\b|httpx\s?\.\s?(?:get|post|put|stream|client|asyncclient)\b|aiohttp\s?\.\s?\w|http\.client\b|https?\s?\.\s?(?:get|request)\s?\(|socket\s?\.\s?(?:socket|create_connection|connect)\s?\(|axios\s?[.(]|net\.(?:connect|createconnection|webclient|sockets)\b|(?:ftplib|smtplib|paramiko)\s?\.\s?\w)/g,
    apart: 'word',
    message: PROGRAM,
  },
  {
    code: 'scan.network',
    needs: [['fetch', 'xmlhttprequest', 'websocket']],
    pattern: /fetch\s?\(\s?(?:['"`]https?:|url|f['"]|new url)|new (?:xmlhttprequest|websocket)\b/g,
    apart: 'command',
    message: PROGRAM,
  },
  {
    code: 'scan.network',
    needs: [['curl', 'wget', 'invoke-', '/dev/tcp', '/dev/udp']],
    pattern: /(?:curl|wget)\s(?:--?\w|['"]?(?:https?:|\$|<))|invoke-(?:webrequest|restmethod)\s|\/dev\/(?:tcp|udp)\//g,
    apart: 'command',
    message: COMMAND,
  },
  {
    code: 'scan.network',
    needs: [['ncat', 'netcat', 'nc ', 'scp ', 'ssh ', 'rsync ', 'sftp ']],
    pattern: /(?:nc|ncat|netcat|scp|rsync|ssh|sftp) /g,
    place: 'command',
    behind: /^(?:-\w+ )?(?:[\w.$-]+ \d|[\w.-]+@)/,
    message: COMMAND,
  },
  {
    code: 'scan.upload',
    needs: [['curl']],
    // The blank is part of the next option, which may be the first one.
    pattern: /curl(?=\s)/g,
    place: 'command',
    behind:
      /\s(?:-d|--data|--data-binary|--data-raw|--data-urlencode|--json|-f|--form)[\s=]['"]?\w*=?@|\s--upload-file\b|\s-t [^-]/,
    message: 'A file is sent to an address.',
  },
  {
    code: 'scan.upload',
    needs: [['wget']],
    pattern: /wget\s/g,
    place: 'command',
    behind: /--(?:post|body)-file\b/,
    message: 'A file is sent to an address.',
  },
  {
    code: 'scan.upload',
    needs: [['nc ', 'ncat ', 'netcat ']],
    pattern: /(?:nc|ncat|netcat) /g,
    place: 'command',
    behind: /<\s?[\w$~./]/,
    message: 'A file is sent to an address.',
  },
  {
    code: 'scan.upload',
    needs: [['/dev/tcp/', '/dev/udp/']],
    pattern: />\s?\/dev\/(?:tcp|udp)\//g,
    place: 'redirect',
    message: 'Data is sent to an address.',
  },
  {
    code: 'scan.upload',
    needs: [
      ['post', 'put'],
      ['open', 'environ', 'process.env', 'readfile'],
    ],
    pattern: /(?:requests|httpx|axios|session|client)\s?\.\s?(?:post|put)\s?\(/g,
    apart: 'word',
    behind: /\bopen\s?\(|\bos\.environ\b|\bprocess\.env\b|\breadfile/,
    message: 'File content or environment variables are sent to an address.',
  },
  {
    code: 'scan.image-address',
    needs: [
      ['](http', '](<http', ']: http', ']:\nhttp', ']: <http', '= "http', "= 'http", '="http', "='http", '=http'],
    ],
    pattern: /(?:\]\(\s?<?|\]:\s<?|\bsrc\s?=\s?['"]?)https?:\/\//g,
    behind: /^[^\s)'"{<[%]*(?:\{|<|%7b|\[[a-z])/,
    message: 'The address of an image or link has a place for data.',
  },
];
