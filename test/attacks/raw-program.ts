import { MAX_EXECUTOR_MESSAGE } from '../../runtime/run/program/executor-process.ts';

/** A program that communicates with the entry over the descriptors of its link, as any program can. */
export const RAW = `
import json, os, struct, sys, time
def raw(data):
    view = memoryview(data)
    while view: view = view[os.write(201, view):]
def frame(body):
    if not isinstance(body, bytes): body = json.dumps(body).encode()
    raw(struct.pack('<I', len(body)) + body)
def reply():
    def exactly(size):
        parts = b''
        while len(parts) < size: parts += os.read(200, size - len(parts))
        return parts
    body = exactly(struct.unpack('<I', exactly(4))[0])
    kind, number, ok, size = struct.unpack_from('<BIBI', body)
    said = {'kind': kind, 'id': number, 'ok': bool(ok), 'bytes': json.loads(body[10:10 + size] or b'[]')}
    said['value' if ok else 'error'] = json.loads(body[10 + size:])
    return said
def packed(number, args=b'null', name='echo', target=0, places=b''):
    name = name.encode()
    return struct.pack('<BIBHI', 1, number, target, len(name), len(places)) + name + places + args
def call(number, name='echo', args=None, target='tool'):
    frame(packed(number, json.dumps(args).encode(), name, ('tool', 'model', 'host').index(target)))
`;
/** The same, with bytes in addition to its messages. */
export const PARTS: string = `${RAW}
def part(number, data): raw(struct.pack('<I', len(data) + 4 | 1 << 24) + struct.pack('<I', number) + data)
def announce(number, *places, args=None):
    listed = [{'path': path, 'bytes': size, 'stream': index} for path, size, index in places]
    frame(packed(number, json.dumps(args).encode(), places=json.dumps(listed).encode()))
`;

/** Malformed messages of an executor: threat, words for it, and code after {@link RAW}. */
export const BROKEN_MESSAGES: readonly [string, string, string][] = [
  ['E01', 'a length of 4 GiB', "raw(b'\\xff\\xff\\xff\\xff')\ntime.sleep(10)"],
  ['E01', 'a length of 4 GiB and endless bytes', "raw(b'\\xff\\xff\\xff\\xff')\nwhile True: raw(b'x' * 65536)"],
  [
    'E01',
    'a length just over the maximum',
    `raw(struct.pack('<I', ${MAX_EXECUTOR_MESSAGE + 1}) + b'x' * 100000)\ntime.sleep(10)`,
  ],
  ['E01', '64 MiB without a meaningful length', "raw(b'{' * (64 << 20))\ntime.sleep(10)"],
  ['E02', 'half a message and then the end', "raw(struct.pack('<I', 100) + b'{\"type\":')\nos._exit(3)"],
  ['E02', 'invalid JSON', "frame(b'not json at all')\ntime.sleep(10)"],
  ['E02', 'bytes that are not UTF-8', 'frame(b\'{"type":"\\xff\\xfe"}\')\ntime.sleep(10)'],
  ['E02', 'a byte order mark', 'frame(b\'\\xef\\xbb\\xbf{"type":"waiting"}\')\ntime.sleep(10)'],
  ['E02', 'NUL bytes', "frame(b'\\0' * 1000)\ntime.sleep(10)"],
  ['E02', '10,000 empty messages', "raw(b'\\0\\0\\0\\0' * 10000)\ntime.sleep(10)"],
  ['E02', 'a message that is not an object', "frame(b'[1,2,3]')\ntime.sleep(10)"],
  ['E02', 'an unknown type', "frame({'type': 'result', 'result': {'outcome': 'succeeded'}})\ntime.sleep(10)"],
  ['E04', 'a call for an unknown target', 'frame(packed(1, target=3))\ntime.sleep(10)'],
  ['E01', 'a call that is shorter than it says', 'frame(packed(1)[:14])\ntime.sleep(10)'],
  ['E02', 'half the head of a call', 'frame(packed(1)[:8])\ntime.sleep(10)'],
  [
    'E02',
    'a call in JSON',
    'frame(b\'{"type":"call","id":1,"target":"tool","name":"echo","args":1}\')\ntime.sleep(10)',
  ],
  ['E07', 'an exit code, which only the kernel reports', "frame({'type': 'exit', 'code': 0})\ntime.sleep(10)"],
];
