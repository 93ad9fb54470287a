import type { ScanPattern } from './find-patterns.ts';

/** What programs read of their surroundings, and whom they talk to. */
export const ACCESS_PATTERNS: readonly ScanPattern[] = [
  {
    code: 'scan.environment-all',
    needs: [['environ', 'process.env', 'printenv', 'env']],
    pattern:
      /\bos\.environ(?:\.(?:items|copy|values|keys)\s*\(|\s*\))|\bdict\s*\(\s*os\.environ\b|\bjson\.dumps?\s*\(\s*dict\s*\(\s*os\.environ|(?:stringify|entries|keys|values|assign)\s*\(\s*(?:\{\s*\}\s*,\s*)?process\.env\s*[,)]|\.\.\.\s*process\.env\b|\/proc\/(?:self|\d+|\$\w+)\/environ\b/g,
    message: 'All environment variables are read.',
  },
  {
    code: 'scan.environment-all',
    needs: [['printenv', 'env', 'export -p', 'get-childitem']],
    pattern:
      /(?<![^\n;&|`($])[ \t]*(?:printenv|env|export\s+-p|declare\s+-x)[ \t]*(?=\n|\||>|$)|\b(?:get-childitem|gci|dir|ls)\s+env:/g,
    message: 'All environment variables are printed.',
  },
  {
    code: 'scan.environment',
    needs: [['environ', 'process.env', 'getenv', 'env[', 'env.get', 'import.meta.env']],
    pattern:
      /\bos\.environ\s*(?:\[|\.\s*get\s*\()|\b(?:os\.)?getenv\s*\(|\bprocess\s*\.\s*env\s*(?:\.\s*\w|\[)|\benv\s*\[\s*['"]|\benv\.get\w*\s*\(|\bimport\.meta\.env\s*\.|\bdeno\.env\b|\$env:\w/g,
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
        '.npmrc',
        '.pypirc',
        '.git-credentials',
        'gcloud',
        '.azure',
        'keychain',
        'login data',
        'cookies',
        'shadow',
        'wallet',
        '.config/gh',
        'auth.json',
        '.claude',
      ],
    ],
    pattern:
      /(?:[~/\\]|\b(?:home|userprofile)\b[^\s]{0,3}|['"])\.?(?:\.ssh[/\\](?:id_\w|authorized_keys|\*|['"])|\.ssh\b(?=\s*['")/\\]|\s*$)|\.aws[/\\]credentials|\.netrc\b|\.kube[/\\]config|\.gnupg\b|\.docker[/\\]config\.json|\.pypirc\b|\.git-credentials\b|\.config[/\\]gcloud|\.azure[/\\]|\.config[/\\]gh[/\\]hosts|\.claude[/\\]\.credentials|\.codex[/\\]auth\.json)/g,
    message: 'A place of secrets is named.',
  },
  {
    code: 'scan.secret-files',
    needs: [
      [
        '/etc/shadow',
        'security',
        'login data',
        'cookies.sqlite',
        'key4.db',
        'wallet.dat',
        '169.254.169.254',
        'metadata.google.internal',
      ],
    ],
    pattern:
      /\/etc\/(?:shadow|gshadow)\b|\bsecurity\s+(?:find|dump)-(?:generic-password|internet-password|keychain)|\blogin data\b|\bcookies\.sqlite\b|\bkey4\.db\b|\bwallet\.dat\b|\b169\.254\.169\.254\b|\bmetadata\.google\.internal\b/g,
    message: 'A place of secrets is named.',
  },
  {
    code: 'scan.network',
    needs: [
      [
        'requests.',
        'urllib',
        'httpx',
        'aiohttp',
        'http.client',
        'http.request',
        'http.get',
        'https.',
        'socket',
        'fetch',
        'axios',
        'xmlhttprequest',
        'net.',
        'websocket',
        'ftplib',
        'smtplib',
        'paramiko',
        'got(',
        'undici',
      ],
    ],
    pattern:
      /\brequests\s*\.\s*(?:get|post|put|patch|delete|head|request|session)\s*\(|\burllib\d?(?:\.request)?\s*\.\s*(?:urlopen|urlretrieve|request)\b|\bhttpx\s*\.\s*\w+\s*\(|\baiohttp\s*\.\s*\w|\bhttp\.client\b|\bhttps?\s*\.\s*(?:get|request)\s*\(|\bsocket\s*\.\s*(?:socket|create_connection|connect)\s*\(|(?<![\w.$])fetch\s*\(\s*(?:['"`]https?:|\w*url|f['"]|new\s+url)|\baxios\s*[.(]|\bnew\s+(?:xmlhttprequest|websocket)\b|\bnet\.(?:connect|createconnection|webclient|sockets)\b|\b(?:ftplib|smtplib|paramiko)\s*\.\s*\w/g,
    message: 'A program connects to the network.',
  },
  {
    code: 'scan.network',
    needs: [
      [
        'curl',
        'wget',
        'invoke-webrequest',
        'invoke-restmethod',
        '/dev/tcp',
        'netcat',
        'ncat',
        'nc ',
        'ssh ',
        'scp ',
        'rsync ',
        'ftp ',
      ],
    ],
    pattern:
      /(?<![\w./-])(?:curl|wget)\s+(?:-{1,2}\w|['"]?(?:https?:|\$|<))|\binvoke-(?:webrequest|restmethod)\s|\/dev\/(?:tcp|udp)\/|(?<![\w./-])(?:nc|ncat|netcat)\s+(?:-\w+\s+)?[\w.$-]+\s+\d|(?<![\w./-])(?:scp|rsync|ssh|sftp)\s+(?:-\w+\s+)?[^\s]*@/g,
    message: 'A command connects to the network.',
  },
  {
    code: 'scan.upload',
    needs: [['curl']],
    pattern: /(?<![\w./-])curl\s/g,
    then: /\s(?:(?:-d|--data|--data-binary|--data-raw|--data-urlencode|--json)[\s=]{0,4}['"]?(?:[\w-]{1,60}=)?@|(?:-f|--form)[\s=]{0,4}['"]?[\w-]{1,60}=@|--upload-file\b|-t\s{1,4}[^\s-])/,
    message: 'A file is sent to an address.',
  },
  {
    code: 'scan.upload',
    needs: [['wget']],
    pattern: /(?<![\w./-])wget\s/g,
    then: /--post-file\b|--body-file\b/,
    message: 'A file is sent to an address.',
  },
  {
    code: 'scan.upload',
    needs: [['nc ', 'ncat', 'netcat']],
    pattern: /(?<![\w./-])(?:nc|ncat|netcat)\s/g,
    then: /<\s{0,4}[\w$~./]/,
    message: 'A file is sent to an address.',
  },
  {
    code: 'scan.upload',
    needs: [['/dev/tcp/', '/dev/udp/']],
    pattern: />\s{0,4}\/dev\/(?:tcp|udp)\//g,
    message: 'Data is sent to an address.',
  },
  {
    code: 'scan.upload',
    needs: [
      ['post', 'put'],
      ['open', 'environ', 'process.env', 'readfile'],
    ],
    pattern: /\b(?:requests|httpx|axios|session|client)\s{0,4}\.\s{0,4}(?:post|put)\s{0,4}\(/g,
    then: /\bopen\s{0,4}\(|\bos\.environ\b|\bprocess\.env\b(?!\.)|\breadfile/,
    message: 'What was read is sent to an address.',
  },
  {
    code: 'scan.image-address',
    needs: [['](http', 'src=']],
    pattern: /\]\(\s{0,4}<?(?=https?:\/\/)|\bsrc\s{0,4}=\s{0,4}['"]?(?=https?:\/\/)/g,
    then: /^[^\s)'"]*(?:\{|<|%7b|\[[a-z])/,
    message: 'The address of an image has a place for data.',
  },
];
