/** The parts of a program in Python that speaks to the door by raw bytes. */
const DOOR = `
import json, os, re, socket, ssl, sys
HTTPS, HTTP = sys.argv[1], sys.argv[2]
def fill(text):
    return text.replace('$https', HTTPS).replace('$http', HTTP)
def door():
    opened = socket.create_connection(('127.0.0.1', 3128))
    opened.settimeout(10)
    return opened
def whole(opened):
    parts = []
    try:
        while part := opened.recv(65536):
            parts.append(part)
    except (OSError, ssl.SSLError):
        pass
    opened.close()
    return b''.join(parts).decode('latin1')
def verdict(answer):
    status = re.match(r'HTTP/1\\.1 (\\d{3})', answer)
    denied = re.search(r'^x-skillcell-denied: (.*?)\\r?$', answer, re.M)
    return (status.group(1) if status else 'none') + (' ' + denied.group(1) if denied else '')
def say(text):
    opened = door()
    try:
        opened.sendall(fill(text).encode('latin1'))
    except OSError:
        pass
    return whole(opened)
def secure(target, name=None):
    opened = door()
    target = fill(target)
    opened.sendall(f'CONNECT {target} HTTP/1.1\\r\\n\\r\\n'.encode('utf8'))
    head = b''
    while not head.endswith(b'\\r\\n\\r\\n'):
        part = opened.recv(1)
        if not part:
            raise OSError(head.decode('latin1'))
        head += part
    if b' 200 ' not in head:
        raise OSError(verdict(head.decode('latin1')))
    context = ssl.create_default_context()
    context.check_hostname = False
    return context.wrap_socket(opened, server_hostname=name or target.rsplit(':', 1)[0].strip('[]'))
def in_tls(target, text, name=None):
    opened = secure(target, name)
    try:
        opened.sendall(fill(text).encode('latin1'))
    except OSError:
        pass
    return whole(opened)
def ask(host, method='GET', path='/', lines=(), named=None, name=None, body=''):
    target = host if re.search(r':(\\d+|\\$https?)$', host) else host + ':$https'
    rows = ['Host: ' + (named or target), 'Connection: close', *lines, *([f'Content-Length: {len(body)}'] if body else [])]
    return in_tls(target, f'{method} {path} HTTP/1.1\\r\\n' + '\\r\\n'.join(rows) + '\\r\\n\\r\\n' + body, name)
report = {}
def attempt(key, function):
    try:
        answer = function()
        report[key] = verdict(answer) if isinstance(answer, str) and (answer == '' or answer.startswith('HTTP/')) else answer
    except OSError as error:
        report[key] = str(error) or type(error).__name__
`;

/** A program that makes attempts, each an expression of Python, and prints a JSON object of their verdicts. */
export function doorProgram(expressions: Record<string, string>, before = ''): string {
  const rows = Object.entries(expressions).map(([name, code]) => `attempt(${JSON.stringify(name)}, lambda: ${code})`);
  return [DOOR, before, ...rows, 'print(json.dumps(report))'].join('\n');
}
